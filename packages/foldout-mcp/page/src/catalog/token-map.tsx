import { formatCount } from 'foldout-shared/numbers'
import { hierarchy, treemap } from 'd3-hierarchy'
import { useMemo } from 'preact/hooks'
import type { CatalogView } from '../../../src/inspector/protocol/protocol.ts'
import { formatNumber, formatShare, toLabel } from '../base/format.ts'
import { Empty } from '../parts/notes.tsx'
import { choose } from './state.ts'

const WIDTH = 720
const HEIGHT = 460
/** More areas than this are too small to see; the rest of each server is one area. */
const MOST_AREAS = 400
const COLORS = 6

interface Area {
  readonly name: string
  readonly value?: number
  /** Undefined for the rest of a server. */
  readonly tool?: string
  readonly children?: readonly Area[]
}

/** Where tokens go: an area for each server, divided among its tools. */
export function TokenMap({ shown }: { readonly shown: CatalogView }) {
  const leaves = useMemo(() => layOut(shown), [shown])
  if (leaves.length === 0) return <Empty title="No tools yet">The map appears with the first tools.</Empty>
  return (
    <figure class="map">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={describe(shown)}>
        {leaves.map(({ x0, y0, x1, y1, name, server, color, tool, value }) => (
          <g
            key={`${server}/${name}`}
            class={`area c${color}${tool === undefined ? ' rest' : ''}`}
            onClick={tool === undefined ? undefined : () => void choose(tool)}
          >
            <title>{`${toLabel(server)}: ${toLabel(name)}, ${formatNumber(value)} tokens`}</title>
            <rect x={x0} y={y0} width={Math.max(0, x1 - x0)} height={Math.max(0, y1 - y0)} />
            {x1 - x0 > 60 && y1 - y0 > 16 && (
              <text x={x0 + 4} y={y0 + 12}>
                {shorten(toLabel(name), (x1 - x0 - 8) / 6.1)}
              </text>
            )}
          </g>
        ))}
      </svg>
      <ServerTable shown={shown} />
    </figure>
  )
}

function ServerTable({ shown }: { readonly shown: CatalogView }) {
  const servers = shown.servers.toSorted((a, b) => b.tokens - a.tokens)
  const order = getOrder(shown)
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Server</th>
          <th scope="col" class="number">
            Tools
          </th>
          <th scope="col" class="number">
            Tokens
          </th>
          <th scope="col" class="number">
            Share
          </th>
        </tr>
      </thead>
      <tbody>
        {servers.map(({ name, tools, tokens }) => (
          <tr key={name}>
            <th scope="row">
              <span class={`swatch c${(order.get(name) ?? 0) % COLORS}`} aria-hidden="true" />
              {toLabel(name)}
            </th>
            <td class="number">{tools === undefined ? '–' : formatNumber(tools)}</td>
            <td class="number strong">{formatNumber(tokens)}</td>
            <td class="number">{shown.tokens === 0 ? '–' : formatShare(tokens / shown.tokens)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function describe({ servers, tokens }: CatalogView): string {
  const largest = servers.toSorted((a, b) => b.tokens - a.tokens).slice(0, 3)
  return `${formatNumber(tokens)} tokens of ${formatCount(servers.length, 'server')}; the largest: ${largest.map(({ name, tokens: own }) => `${toLabel(name)} ${formatNumber(own)}`).join(', ')}`
}

interface Leaf {
  readonly x0: number
  readonly y0: number
  readonly x1: number
  readonly y1: number
  readonly name: string
  readonly server: string
  readonly tool: string | undefined
  readonly value: number
  readonly color: number
}

function getOrder({ servers, tools }: CatalogView): ReadonlyMap<string, number> {
  const names = servers.toSorted((a, b) => b.tokens - a.tokens).map(({ name }) => name)
  // A server whose name the catalog changed has a color of its own, too.
  const others = new Set(tools.map(({ server }) => server))
  return new Map([...new Set([...names, ...others])].map((name, i) => [name, i]))
}

function layOut(shown: CatalogView): readonly Leaf[] {
  const order = getOrder(shown)
  const root = hierarchy<Area>({ name: '', children: toAreas(shown) }, ({ children }) => children as Area[] | undefined)
    .sum(({ value = 0 }) => value)
    .sort((a, b) => (b.value ?? 0) - (a.value ?? 0))
  return treemap<Area>()
    .size([WIDTH, HEIGHT])
    .paddingInner(1)
    .paddingOuter(2)(root)
    .leaves()
    .filter(({ value = 0 }) => value > 0)
    .map(({ x0, y0, x1, y1, data, parent, value = 0 }) => {
      const server = parent?.data.name ?? ''
      return {
        x0,
        y0,
        x1,
        y1,
        name: data.name,
        server,
        tool: data.tool,
        value,
        color: (order.get(server) ?? 0) % COLORS,
      }
    })
}

function toAreas({ tools }: CatalogView): readonly Area[] {
  const shownOnes = new Set(tools.toSorted((a, b) => b.tokens - a.tokens).slice(0, MOST_AREAS))
  const groups = new Map<string, { areas: Area[]; rest: number; count: number }>()
  for (const tool of tools) {
    const group = groups.get(tool.server) ?? { areas: [], rest: 0, count: 0 }
    groups.set(tool.server, group)
    if (shownOnes.has(tool)) group.areas.push({ name: tool.name, tool: tool.name, value: tool.tokens })
    else {
      group.rest += tool.tokens
      group.count += 1
    }
  }
  return Array.from(groups, ([name, { areas, rest, count }]) => ({
    name,
    children: rest === 0 ? areas : [...areas, { name: `${formatNumber(count)} more`, value: rest }],
  }))
}

function shorten(text: string, length: number): string {
  if (text.length <= length) return text
  return `${text.slice(0, Math.max(1, Math.floor(length) - 1))}…`
}
