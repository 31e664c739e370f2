import { useEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import type { ChartPoint, ContextParts } from '../../../src/inspector/protocol/protocol.ts'
import { formatNumber, formatShort } from '../base/format.ts'
import { theme } from '../base/theme.ts'

const HEIGHT = 190

/** What the tokens of a request are for, from the bottom of the chart to its top, in the order in which they are sent. */
const PARTS: readonly (keyof ContextParts)[] = ['system', 'tools', 'sections', 'results', 'conversation']

/** What the chart shows, and how it is called. */
export interface ChartData {
  readonly chart: readonly ChartPoint[]
  readonly window?: number | undefined
  readonly words: ChartWords
  /** The extent of another chart beside it: both have the same scales, so that they can be compared by eye. */
  readonly beside?: ChartExtent | undefined
  /** Chooses the request of a point that is clicked. */
  onChoose?(request: number): void
}

interface ChartExtent {
  /** The last point. */
  readonly request: number
  /** The highest value. */
  readonly tokens: number
}

export interface ChartWords {
  /** The line that is filled. */
  readonly now: string
  readonly everything: string
  /** Missing if it is not known what was cached. */
  readonly cached?: string
  /** What is counted along the axis. */
  readonly unit: string
  /** What the highest point is. */
  readonly mark: string
  /** Whether it is something to look out for. */
  readonly isWarning: boolean
}

/** Context per request against everything in full and the model's window. A sentence says the same. */
export function Chart({ shown }: { readonly shown: ChartData }) {
  const host = useRef<HTMLDivElement>(null)
  const { chart, window: limit, words } = shown
  const scheme = theme.value
  const [pointed, setPointed] = useState<ChartPoint | undefined>(undefined)
  useEffect(() => {
    const element = host.current
    if (!element || chart.length === 0) return undefined
    const plot = new uPlot(createOptions(element, shown, setPointed), toData(shown), element)
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      plot.destroy()
    }
  }, [chart, limit, scheme])
  return (
    <figure class="chart">
      <figcaption>
        {hasParts(chart) ? (
          PARTS.map((part) => (
            <span key={part} class={`key part-${part}`}>
              {part}
            </span>
          ))
        ) : (
          <span class="key now">{words.now}</span>
        )}
        {words.cached !== undefined && <span class="key cached">{words.cached}</span>}
        <span class="key everything">{words.everything} (estimated)</span>
        {limit !== undefined && (
          <span class="key limit">
            window {formatNumber(limit)}
            {limit > getTop(getHighest(shown), limit) && ', above the chart'}
          </span>
        )}
        <span class="note">
          {pointed ? describePoint(pointed, words) : describe(shown) + describeParts(findPeak(shown)?.parts)}
        </span>
      </figcaption>
      <div ref={host} class="plot" role="img" aria-label={describe(shown)} />
    </figure>
  )
}

function describePoint({ request, context, cached, everything, parts }: ChartPoint, words: ChartWords): string {
  const name = `${words.unit.slice(0, 1).toUpperCase()}${words.unit.slice(1)} ${formatNumber(request)}`
  const ofCache = words.cached === undefined ? '' : `, ${formatNumber(cached)} cached`
  return `${name}: ${formatNumber(context)} tokens${ofCache}; ${words.everything} about ${formatNumber(everything)}.${describeParts(parts)}`
}

function findPeak({ chart }: ChartData) {
  return chart.reduce<ChartPoint | undefined>(
    (best, point) => (best === undefined || point.context > best.context ? point : best),
    undefined,
  )
}

function describe(shown: ChartData): string {
  const peak = findPeak(shown)
  const { unit, everything: name, mark } = shown.words
  if (!peak) return `No ${unit} yet.`
  const most = Math.max(...shown.chart.map(({ everything }) => everything))
  return `${mark.slice(0, 1).toUpperCase()}${mark.slice(1)} ${formatNumber(peak.context)} tokens at ${unit} ${formatNumber(peak.request)}; ${name} about ${formatNumber(most)}.`
}

function getHighest({ chart, beside }: ChartData): number {
  return Math.max(getExtent(chart).tokens, beside?.tokens ?? 0)
}

export function getExtent(chart: readonly ChartPoint[]): ChartExtent {
  const tokens = Math.max(0, ...chart.map(({ context, everything }) => Math.max(context, everything)))
  return { request: chart.at(-1)?.request ?? 0, tokens }
}

function toData({ chart, words }: ChartData): uPlot.AlignedData {
  return [
    chart.map(({ request }) => request),
    ...(hasParts(chart) ? stackParts(chart) : [chart.map(({ context }) => context)]),
    chart.map(({ everything }) => everything),
    ...(words.cached === undefined ? [] : [chart.map(({ cached }) => cached)]),
  ]
}

function createOptions(
  element: HTMLElement,
  shown: ChartData,
  onPoint: (point: ChartPoint | undefined) => void,
): uPlot.Options {
  const style = getComputedStyle(element)
  const color = (name: string): string => resolveColor(element, style.getPropertyValue(name))
  const muted = color('--muted')
  const grid = { stroke: color('--line'), width: 1 }
  const axis = { stroke: muted, grid, ticks: { show: false }, gap: 6, font: `11px ${style.fontFamily}` }
  const few = shown.chart.length < 60
  const marks = {
    peak: color(shown.words.isWarning ? '--bad' : '--bar'),
    limit: color('--bad'),
    text: color('--ink'),
    behind: color('--surface'),
  }
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, points: { size: 7 } },
    scales: {
      x: { time: false, range: [0.5, Math.max(1, getExtent(shown.chart).request, shown.beside?.request ?? 0) + 0.5] },
      y: { range: (_plot, _low, high) => [0, getTop(Math.max(high, shown.beside?.tokens ?? 0), shown.window)] },
    },
    axes: [
      {
        ...axis,
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 5_000],
        size: 26,
      },
      { ...axis, size: 62, values: (_plot, values) => values.map((value) => formatShort(value)) },
    ],
    series: [
      {},
      ...createAreas(shown.chart, color, few),
      { stroke: color('--line-strong'), width: 1.5, dash: [4, 4], points: { show: few, size: 4 } },
      ...(shown.words.cached === undefined
        ? []
        : [{ stroke: color('--cached'), width: 1.5, points: { show: few, size: 4 } }]),
    ],
    hooks: {
      draw: [(plot) => drawMarks(plot, shown, marks)],
      ready: [
        (plot) =>
          plot.over.addEventListener('click', () => {
            const point = shown.chart[plot.cursor.idx ?? -1]
            if (point) shown.onChoose?.(point.request)
          }),
      ],
      setCursor: [(plot) => onPoint(shown.chart[plot.cursor.idx ?? -1])],
    },
  }
}

/** Whether a chart shows what the tokens are for. Older recordings do not say. */
function hasParts(chart: readonly ChartPoint[]): boolean {
  return chart.length > 0 && chart.every(({ parts }) => parts !== undefined)
}

/** The tokens up to the top of each part, the topmost part first: each area hides what is below it in the next one. */
function stackParts(chart: readonly ChartPoint[]): number[][] {
  return PARTS.map((_, i) => chart.map(({ parts }) => sumParts(parts, PARTS.length - i)))
}

function sumParts(parts: ContextParts | undefined, count: number): number {
  return PARTS.slice(0, count).reduce((sum, part) => sum + (parts?.[part] ?? 0), 0)
}

/** ` Of these, system 1,200, tools 300 …`, for those who do not see the areas. */
function describeParts(parts: ContextParts | undefined): string {
  if (!parts) return ''
  return ` Of these, ${PARTS.map((part) => `${part} ${formatNumber(parts[part])}`).join(', ')}.`
}

/** What was sent: an area for each part, or one for everything. */
function createAreas(chart: readonly ChartPoint[], color: (name: string) => string, few: boolean): uPlot.Series[] {
  const line = { width: 2, stroke: color('--bar'), points: { show: few, size: 6, fill: color('--bar') } }
  if (!hasParts(chart)) return [{ ...line, fill: color('--accent-soft') }]
  return PARTS.toReversed().map((part, i) => {
    const fill = color(`--part-${part}`)
    return i === 0 ? { ...line, fill } : { width: 1, stroke: color('--surface'), fill, points: { show: false } }
  })
}

/** The window is shown if the run comes near it; otherwise it would make the run a flat line. */
function getTop(high: number, limit: number | undefined): number {
  const top = Math.max(10, high * 1.15)
  if (limit !== undefined && limit < top * 2) return Math.max(top, limit * 1.05)
  return top
}

function drawMarks(
  plot: uPlot,
  shown: ChartData,
  colors: { readonly peak: string; readonly limit: string; readonly text: string; readonly behind: string },
): void {
  const { ctx, bbox } = plot
  const peak = findPeak(shown)
  ctx.save()
  const ratio = devicePixelRatio
  if (shown.window !== undefined && shown.window <= (plot.scales['y']?.max ?? 0)) {
    const y = plot.valToPos(shown.window, 'y', true)
    ctx.strokeStyle = colors.limit
    ctx.setLineDash([6 * ratio, 3 * ratio])
    ctx.beginPath()
    ctx.moveTo(bbox.left, y)
    ctx.lineTo(bbox.left + bbox.width, y)
    ctx.stroke()
  }
  if (peak) {
    const x = plot.valToPos(peak.request, 'x', true)
    const y = plot.valToPos(peak.context, 'y', true)
    ctx.setLineDash([])
    ctx.strokeStyle = colors.peak
    ctx.lineWidth = 2 * ratio
    ctx.beginPath()
    ctx.arc(x, y, 6 * ratio, 0, 2 * Math.PI)
    ctx.stroke()
    ctx.fillStyle = colors.text
    ctx.font = `600 ${11 * ratio}px system-ui, sans-serif`
    const isRight = x > bbox.left + bbox.width - 90 * ratio
    if (isRight) ctx.textAlign = 'right'
    else ctx.textAlign = 'left'
    const label = `${shown.words.mark} ${formatNumber(peak.context)}`
    const [left, top] = [x + (isRight ? -10 : 10) * ratio, y - 8 * ratio]
    // A line may cross it.
    ctx.strokeStyle = colors.behind
    ctx.lineWidth = 7 * ratio
    ctx.lineJoin = 'round'
    ctx.strokeText(label, left, top)
    ctx.fillText(label, left, top)
  }
  ctx.restore()
}

/** A canvas does not support light-dark(), so the browser resolves the color. */
function resolveColor(element: HTMLElement, value: string): string {
  element.style.color = value
  const { color } = getComputedStyle(element)
  element.style.color = ''
  return color
}
