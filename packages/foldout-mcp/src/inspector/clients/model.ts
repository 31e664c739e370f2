import type { RecordedTraffic } from '../../gateway/traffic/recording.ts'
import type { ChartPoint, ClientFigures, ClientSummary, ClientView, RunStep } from '../protocol/protocol.ts'
import { thinChart, toName } from '../runs/describe.ts'
import { describeLine } from './steps.ts'

const NOTHING: ClientFigures = {
  lists: 0,
  searches: 0,
  openings: 0,
  calls: 0,
  failed: 0,
  held: 0,
  listed: 0,
  answered: 0,
  everything: undefined,
}

/** What one client did, put together from lines of traffic as they come. Only what is shown is kept. */
export class ClientModel {
  readonly id: string
  readonly steps: RunStep[] = []
  readonly chart: ChartPoint[] = []
  readonly #preset: string
  readonly #part: number
  readonly #startedAt: number
  #lastAt: number
  #name = ''
  #user = ''
  #figures: ClientFigures = NOTHING
  /** Tokens of answers that a client would have got with every tool listed, too. */
  #needed = 0

  constructor(id: string, { preset, at }: RecordedTraffic, before?: ClientModel) {
    this.id = id
    this.#preset = preset
    if (before) this.#part = before.#part + 1
    else this.#part = 1
    this.#startedAt = toTime(at)
    this.#lastAt = this.#startedAt
    if (!before) return
    this.#name = before.#name
    this.#user = before.#user
    // What it lists stays the same in its next part.
    const { listed, everything } = before.#figures
    this.#figures = { ...NOTHING, listed, everything }
  }

  get size(): number {
    return this.steps.length
  }

  get summary(): ClientSummary {
    return {
      kind: 'client',
      id: this.id,
      name: toName(this.#name),
      user: toName(this.#user),
      preset: toName(this.#preset),
      part: this.#part,
      startedAt: this.#startedAt,
      lastAt: this.#lastAt,
      figures: this.#figures,
    }
  }

  describe(skipped: number): ClientView {
    return { ...this.summary, steps: this.steps.length, chart: thinChart(this.chart), skipped }
  }

  add(line: RecordedTraffic): void {
    this.#lastAt = Math.max(this.#lastAt, toTime(line.at))
    const isShared = line.client === 'stateless'
    if (line.name !== undefined && !isShared) this.#name = line.name
    if (line.user !== undefined && !isShared) this.#user = line.user
    this.#count(line)
    this.steps.push(describeLine(line, toTime(line.at) - this.#startedAt, this.steps.length))
    const { listed, answered, everything } = this.#figures
    if (line.type === 'client' || line.type === 'exposure') return
    const context = listed + answered
    // Searches and definitions would not have been needed.
    const whole = everything === undefined ? context : everything + this.#needed
    this.chart.push({ request: this.steps.length, context, everything: whole, cached: 0, output: 0 })
  }

  #count(line: RecordedTraffic): void {
    const { lists, searches, openings, calls, failed, held, answered, everything } = this.#figures
    const given = 'answer' in line ? (line.answer?.tokens ?? 0) : 0
    const next = { ...this.#figures, answered: answered + given }
    if (line.type === 'list')
      this.#figures = { ...next, lists: lists + 1, listed: line.tokens, everything: line.allTokens ?? everything }
    if (line.type === 'search') this.#figures = { ...next, searches: searches + 1 }
    if (line.type === 'definition') this.#figures = { ...next, openings: openings + 1 }
    if (line.type === 'call' || line.type === 'request') {
      this.#needed += given
      const isOpening = line.type === 'request' && line.tool === 'read_result'
      const isHeld = line.type === 'call' && line.decision !== undefined && line.decision !== 'approved'
      this.#figures = {
        ...next,
        openings: openings + (isOpening ? 1 : 0),
        calls: calls + (isOpening ? 0 : 1),
        failed: failed + (line.ok || isHeld ? 0 : 1),
        held: held + (isHeld ? 1 : 0),
      }
    }
  }
}

/** A time in milliseconds; 0 if it is not one, since a recording may come from anywhere. */
function toTime(at: string): number {
  const time = Date.parse(at)
  if (Number.isNaN(time)) return 0
  return time
}
