import { formatBytes, formatCount, formatRounded } from 'foldout-shared/numbers'
import type { RecordedTraffic } from '../../gateway/traffic/recording.ts'
import type { RunStep } from '../protocol/protocol.ts'
import { shorten } from '../protocol/text.ts'
import { formatJson } from '../runs/describe.ts'

type Described = Pick<RunStep, 'kind' | 'title' | 'detail' | 'isBad'>
type Line<Type extends RecordedTraffic['type']> = Extract<RecordedTraffic, { type: Type }>

/** What a client did, as a step of its timeline. */
export function describeLine(line: RecordedTraffic, at: number, index: number): RunStep {
  const { kind, title, detail, isBad } = describe(line)
  return {
    index,
    kind,
    at,
    request: index + 1,
    title: shorten(title),
    detail: shorten(line.client === SHARED ? [line.name, detail].filter((part) => part).join(': ') : detail),
    isBad,
    usage: undefined,
    answer: getSize(line),
  }
}

/** Requests without a connection, whose clients share an id. */
const SHARED = 'stateless'

function getSize(line: RecordedTraffic): RunStep['answer'] {
  if (line.type === 'list') return { tokens: line.tokens, bytes: undefined, durationMs: undefined }
  const own = 'durationMs' in line ? line.durationMs : undefined
  const { answer } = 'answer' in line ? line : { answer: undefined }
  const durationMs = answer?.durationMs ?? own
  if (answer) return { tokens: answer.tokens, bytes: answer.bytes, durationMs }
  if (durationMs === undefined) return undefined
  return { tokens: undefined, bytes: undefined, durationMs }
}

function describe(line: RecordedTraffic): Described {
  switch (line.type) {
    case 'client':
      return { kind: 'start', title: 'Connected', detail: line.name ?? '', isBad: false }
    case 'exposure':
      return { kind: 'note', title: `Is shown tools as ${line.exposure}`, detail: line.reason, isBad: false }
    case 'list':
      return describeList(line)
    case 'search':
      return {
        kind: 'search',
        title: `Searched for “${line.query}”`,
        detail: line.hits.length === 0 ? 'found nothing' : `found: ${line.hits.join(', ')}`,
        isBad: line.hits.length === 0,
      }
    case 'definition':
      return { kind: 'opening', title: `Opened the definition of ${line.tool}`, detail: '', isBad: false }
    case 'call':
      return describeCall(line)
    default:
      return describeRequest(line)
  }
}

function describeList({ tools, exposure, all, allTokens }: Line<'list'>): Described {
  const whole = all === undefined ? '' : `of ${formatCount(all, 'tool')}`
  const cost = allTokens === undefined ? '' : `listing all would cost ${formatRounded(allTokens)} tokens`
  return {
    kind: 'list',
    title: `Listed ${formatCount(tools, 'tool')} as ${exposure}`,
    detail: [whole, cost].filter((part) => part !== '').join('; '),
    isBad: false,
  }
}

const DECISIONS: Readonly<Record<NonNullable<Line<'call'>['decision']>, string>> = {
  approved: 'was approved and',
  asked: 'waits: its client is asked for approval',
  'not approved': 'was not approved',
  denied: 'is denied by a rule',
  'over quota': 'is over its quota',
}

function describeCall({
  tool,
  through,
  ok,
  arguments: args,
  decision,
  message,
  answer,
  result,
}: Line<'call'>): Described {
  const isHeld = decision !== undefined && decision !== 'approved'
  const how = through === 'direct' ? '' : ` through ${through}`
  const end = ok ? 'answered' : 'failed'
  const what = isHeld ? DECISIONS[decision] : [decision && DECISIONS[decision], end].filter((part) => part).join(' ')
  const given = Object.keys(args).length === 0 ? '' : formatJson(args, 0)
  const folded =
    answer?.isFolded && result ? `folded from ${formatBytes(result.bytes)} to ${formatBytes(answer.bytes)}` : ''
  return {
    kind: decision === undefined ? 'call' : 'approval',
    title: `${tool}${how} ${what}`,
    detail: [message, folded, given].filter((part) => part).join(' · '),
    isBad: !ok && decision !== 'asked',
  }
}

function describeRequest({ tool, ok, arguments: args, message }: Line<'request'>): Described {
  const isReading = tool === 'read_result'
  const verb = isReading ? 'Read a folded result' : `Called ${tool}`
  return {
    kind: isReading ? 'opening' : 'call',
    title: ok ? verb : `${verb}, which failed`,
    detail: [message, formatJson(args, 0)].filter((part) => part).join(' · '),
    isBad: !ok,
  }
}
