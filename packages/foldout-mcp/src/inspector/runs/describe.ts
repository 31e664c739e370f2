import { cut } from '../protocol/text.ts'
import { MAX_CHART_POINTS, MAX_NAME_CHARACTERS } from './limits.ts'
import type { ChartPoint, RunMessage, RunOpening, RunSummary, RunView } from '../protocol/protocol.ts'
import type { ModelMessage } from './conversation.ts'
import type { RunModel } from './model.ts'
import type { ModelStep } from './requests.ts'

/** A run as lists show it. Names may have any length, because a recording may come from anywhere. */
export function describeSummary(run: RunModel): RunSummary {
  const { prompt, model, input, ...rest } = run.summary
  return { ...rest, prompt: toName(prompt), model: toName(model), input: toName(input) }
}

export function describeRun(run: RunModel, skipped: number): RunView {
  return {
    ...describeSummary(run),
    steps: run.steps.length,
    messages: run.messages.length,
    retries: countSteps(run, 'request/retried'),
    cacheMisses: countSteps(run, 'cache/missed'),
    output: cut(run.output),
    window: run.window,
    chart: thinChart(run.chart),
    openingList: run.openings.slice(0, MAX_LISTED).map(describeOpening),
    // A longer name could not be requested.
    tools: [...run.tools].filter(({ length }) => length <= MAX_NAME_CHARACTERS).sort(),
    hasTexts: run.hasTexts,
    earlier: run.hasTexts ? run.earlier : 0,
    skipped,
  }
}

function countSteps({ steps }: RunModel, type: ModelStep['event']['type']): number {
  return steps.reduce((count, { event }) => count + (event.type === type ? 1 : 0), 0)
}

/** More openings than this, or sections of one opening, do not help a person. */
const MAX_LISTED = 1_000
const MAX_KEYS = 20

function describeOpening({ keys, reason, ...rest }: RunOpening): RunOpening {
  return { ...rest, keys: keys.slice(0, MAX_KEYS).map(toName), reason: reason.slice(0, MAX_LISTED) }
}

export function toName(text: string): string {
  if (text.length <= MAX_NAME_CHARACTERS) return text
  return `${text.slice(0, MAX_NAME_CHARACTERS)}…`
}

/** At most so many points that a chart can show. The peak always stays. */
export function thinChart(points: readonly ChartPoint[]): readonly ChartPoint[] {
  if (points.length <= MAX_CHART_POINTS) return points
  const step = Math.ceil(points.length / MAX_CHART_POINTS)
  const groups = Array.from({ length: Math.ceil(points.length / step) }, (_, i) =>
    points.slice(i * step, (i + 1) * step),
  )
  return groups.flatMap((group) => group.toSorted((a, b) => b.context - a.context).slice(0, 1))
}

export function describeMessage(message: ModelMessage, index: number): RunMessage {
  const { role, request, name, text, toolCalls, names, isBad } = message
  return {
    index,
    role,
    request,
    name: toName(name),
    text: cut(role === 'tools' ? names.join(', ') : text),
    calls: toolCalls.map((call) => ({
      name: toName(call.name),
      arguments: cut(call.malformed ?? formatJson(call.arguments)),
    })),
    isBad,
  }
}

/** Arguments as text. A recording may come from anywhere, and have arguments nested too deeply to serialize. */
export function formatJson(value: unknown, indent = 2): string {
  try {
    if (value === undefined) return ''
    return JSON.stringify(value, null, indent)
  } catch {
    return '(nested too deep to show)'
  }
}
