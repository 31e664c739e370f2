import { formatCount, formatRounded } from 'foldout-shared/numbers'
import type { RunStep, StepKind, TokenUsage } from '../protocol/protocol.ts'
import { shorten } from '../protocol/text.ts'
import { formatJson } from './describe.ts'
import type { ModelMessage } from './conversation.ts'
import type { RunModel } from './model.ts'
import type { ModelStep } from './requests.ts'

type StepEvent = ModelStep['event']
type Described = Pick<RunStep, 'title' | 'detail'> & { readonly isBad?: boolean; readonly usage?: TokenUsage }

const KINDS: Readonly<Record<StepEvent['type'], StepKind>> = {
  'run/started': 'start',
  'prompt/rendered': 'render',
  'request/sent': 'request',
  'request/retried': 'retry',
  'reply/received': 'reply',
  'reply/lost': 'reply',
  'tool/called': 'call',
  'tool/invoked': 'call',
  'tools/injected': 'added',
  'sections/opened': 'opening',
  'results/folded': 'fold',
  'result/read': 'fold',
  'tools/removed': 'fold',
  'run/expanded': 'restart',
  'approval/asked': 'approval',
  'approval/answered': 'approval',
  'output/refused': 'note',
  warning: 'note',
  'cache/missed': 'miss',
  'cache/diagnosed': 'miss',
  'run/finished': 'end',
  'run/failed': 'end',
}

/** How many results of a fold are listed. */
const MAX_RESULTS = 100

/** A step of a run, with the messages that it folded or read again. */
export function describeRunStep({ messages }: Pick<RunModel, 'messages'>, step: ModelStep, index: number): RunStep {
  const results = findResults(step.event, messages)
  return { ...describeStep(step, index), ...(results && { results }) }
}

/** A step of the timeline. */
export function describeStep({ at, request, event }: ModelStep, index: number): RunStep {
  const { title, detail, isBad = false, usage } = describeEvent(event)
  const kind = event.type === 'tool/invoked' && event.disclosure ? 'opening' : KINDS[event.type]
  return { index, kind, at, request, title: shorten(title), detail: shorten(detail), isBad, usage, answer: undefined }
}

/** Finds the results that a fold, or a reading of a folded result, is about. Recordings may leave texts out. */
function findResults(event: StepEvent, messages: readonly ModelMessage[]): readonly number[] | undefined {
  if (event.type !== 'results/folded' && event.type !== 'result/read') return undefined
  const ids = new Set(event.type === 'results/folded' ? event.callIds : [event.callId])
  const found = messages.flatMap(({ role, callId, text }, at) =>
    role === 'tool' && text !== '' && ids.has(callId) ? [at] : [],
  )
  return found.slice(0, MAX_RESULTS)
}

function describeEvent(event: StepEvent): Described {
  switch (event.type) {
    case 'run/started':
      return { title: event.isResumed ? 'Resumed' : 'Started', detail: event.input ?? '' }
    case 'prompt/rendered':
      return {
        title: `Rendered ${formatRounded(event.tokens.total)} of ${formatRounded(event.tokensIfAllOpen.total)} tokens`,
        detail: event.summarized.length === 0 ? 'nothing folded' : `folded: ${event.summarized.join(', ')}`,
      }
    case 'request/sent':
      return { title: `Request with ${formatCount(event.tools.length, 'tool')}`, detail: event.tools.join(', ') }
    case 'request/retried':
      return {
        title: `Retry ${event.attempt}${event.delayMs > 0 ? ` after ${formatRounded(event.delayMs)} ms` : ''}`,
        detail: event.reason,
        isBad: true,
      }
    case 'reply/received': {
      const { inputTokens: input, outputTokens: output, cachedInputTokens: cached } = event.usage
      const names = event.message.toolCalls.map(({ name }) => name)
      const title = names.length === 0 ? 'Answer' : `Calls ${names.join(', ')}`
      return { title, detail: event.message.text, usage: { input, output, cached } }
    }
    case 'reply/lost': {
      const { inputTokens: input, outputTokens: output, cachedInputTokens: cached } = event.usage
      const detail = 'The model declined to answer, or the stream was cut off.'
      return { title: 'Paid for a lost reply', detail, isBad: true, usage: { input, output, cached } }
    }
    case 'tool/called':
      return {
        title: `${event.call.name} begins`,
        detail: event.call.malformed ?? formatJson(event.call.arguments, 0),
      }
    case 'tool/invoked':
      return event.disclosure ? describeOpening(event.disclosure, event.ok) : describeCall(event)
    case 'cache/missed':
      return {
        title: `Cache missed for ${formatRounded(event.lost)} tokens`,
        detail: event.cause,
        isBad: true,
      }
    case 'cache/diagnosed':
      return {
        title: `The provider missed ${formatRounded(event.tokens)} tokens in its cache`,
        detail: event.reason.replaceAll('_', ' '),
        isBad: true,
      }
    default:
      return describeOther(event)
  }
}

type Other = Exclude<
  StepEvent,
  {
    type:
      | 'run/started'
      | 'prompt/rendered'
      | 'request/sent'
      | 'request/retried'
      | 'reply/received'
      | 'reply/lost'
      | 'tool/called'
      | 'tool/invoked'
      | 'cache/missed'
      | 'cache/diagnosed'
  }
>

function describeOther(event: Other): Described {
  switch (event.type) {
    case 'tools/injected':
      return { title: `Added ${event.names.join(', ')}`, detail: describeKeys(event.keys) }
    case 'sections/opened':
      return describeAhead(event)
    case 'results/folded':
      return describeFold(event)
    case 'result/read':
      return {
        title: `Read ${event.handle} again, of ${event.tool}`,
        detail: `${formatRounded(event.tokens)} tokens, after ${formatRounded(event.age)} replies`,
      }
    case 'tools/removed':
      return { title: `Removed ${event.names.join(', ')}`, detail: 'their sections are closed' }
    case 'run/expanded':
      return { title: `Restart with ${event.paths.join(', ')} open`, detail: event.reason }
    case 'approval/asked':
      return { title: `${event.tool} waits for approval`, detail: event.reason ?? '' }
    case 'approval/answered':
      return {
        title: `${event.tool} was ${event.approved ? 'approved' : 'refused'}`,
        detail: '',
        isBad: !event.approved,
      }
    case 'output/refused':
      return { title: `Output refused, repair ${event.repairs}`, detail: event.message, isBad: true }
    case 'warning':
      return { title: 'Warning', detail: event.message, isBad: true }
    case 'run/finished':
      return { title: event.status === 'waiting' ? 'Waits for a person' : `Run ${event.status}`, detail: '' }
    default:
      return { title: 'Run failed', detail: event.errorType, isBad: true }
  }
}

function describeAhead(ahead: Extract<StepEvent, { type: 'sections/opened' }>): Described {
  const { keys, rule, place, tokens } = ahead
  if (keys.length === 0) return { title: 'Opened nothing ahead', detail: `rule: ${rule}` }
  const where = place === 'system' ? 'in the system text' : 'behind the message'
  return {
    title: `Opened ahead: ${keys.join(', ')}`,
    detail: `${formatRounded(tokens)} tokens ${where}; rule: ${rule}`,
  }
}

function describeKeys(keys: readonly string[]): string {
  if (keys.length === 0) return ''
  return `by ${keys.join(', ')}`
}

const REASONS: Readonly<Record<string, string>> = {
  large: 'too large to be sent',
  cold: 'the cache had expired',
  price: 'it pays',
  size: 'the request was too large',
  window: 'nothing else fits',
  asked: 'the program asked for it',
  summary: 'the older turns were summarized',
}

function describeFold(fold: Extract<StepEvent, { type: 'results/folded' }>): Described {
  const { callIds, reason, context, freed, cost, gain, sections, summarized } = fold
  const what = [
    ...(callIds.length > 0 ? [formatCount(callIds.length, 'result')] : []),
    ...(summarized > 0 ? [formatCount(summarized, 'message')] : []),
    ...(sections.length > 0 ? [sections.join(', ')] : []),
  ]
  const money = `costs ${formatRounded(cost)} now, gains ${formatRounded(gain)} per request`
  return {
    title: `Folded ${what.join(' and ')}: ${formatRounded(freed)} of ${formatRounded(context)} tokens`,
    detail: `${REASONS[reason] ?? reason}; ${money}`,
  }
}

interface Opening {
  readonly keys: readonly string[]
  readonly reason: string
  readonly answer: 'in-place' | 'restart' | 'none'
}

function describeOpening({ keys, reason, answer }: Opening, isOk: boolean): Described {
  if (!isOk) return { title: `Could not open ${keys.join(', ')}`, detail: reason, isBad: true }
  const how = { 'in-place': '', restart: ' by a restart', none: ' (not answered)' }[answer]
  return { title: `Opened ${keys.join(', ')}${how}`, detail: reason }
}

function describeCall(call: { name: string; ok: boolean; durationMs: number; message: string }): Described {
  const { name, ok, durationMs, message } = call
  const title = `${name} ${ok ? 'answered' : 'failed'} in ${formatRounded(durationMs)} ms`
  return { title, detail: message, isBad: !ok }
}
