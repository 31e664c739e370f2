import type { ChartPoint, ContextParts } from '../../../src/inspector/protocol/protocol.ts'
import { formatNumber } from '../base/format.ts'

/** What the tokens of a request are for, from the bottom of the chart to its top, in the order in which they are sent. */
export const PARTS: readonly (keyof ContextParts)[] = ['system', 'tools', 'sections', 'results', 'conversation']

/** Whether a chart shows what the tokens are for. Older recordings do not say. */
export function hasParts(chart: readonly ChartPoint[]): boolean {
  return chart.length > 0 && chart.every(({ parts }) => parts !== undefined)
}

/** The tokens up to the top of each part, the topmost part first: each area hides what is below it in the next one. */
export function stackParts(chart: readonly ChartPoint[]): number[][] {
  return PARTS.map((_, i) => chart.map(({ parts }) => sumParts(parts, PARTS.length - i)))
}

function sumParts(parts: ContextParts | undefined, count: number): number {
  return PARTS.slice(0, count).reduce((sum, part) => sum + (parts?.[part] ?? 0), 0)
}

/** ` Of these, system 1,200, tools 300 …`, for those who do not see the areas. */
export function describeParts(parts: ContextParts | undefined): string {
  if (!parts) return ''
  return ` Of these, ${PARTS.map((part) => `${part} ${formatNumber(parts[part])}`).join(', ')}.`
}
