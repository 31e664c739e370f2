import { addUsage, NO_USAGE, type Message, type ProviderAdapter, type Usage } from '../../adapters/contract.ts'
import type { AgentEvent } from '../../agent/events.ts'
import { runAgent } from '../../agent/loop/run-agent.ts'
import { untilAborted } from '../../core/abort.ts'
import { FoldoutError } from '../../core/errors.ts'
import { dropUndefined } from 'foldout-shared/values'
import type { TokenCounter } from '../../core/tokens/tokens.ts'
import type { BoundPrompt } from '../../prompt/prompt.ts'
import type { CompareArm, ComparedPrompt, RunStart, SimulatedUser } from '../contract/arms.ts'
import type { GradedRun } from '../contract/options.ts'
import type { SavedRun } from '../contract/saved.ts'
import { followHost, measureAdapter, type HostListener } from './measure.ts'
import type { Meter } from './meter.ts'
import { observe, type Observer } from './observer.ts'

/** A run that is about to begin. */
export interface PreparedRun<World> {
  readonly start: RunStart<World>
  readonly arm: CompareArm<World>
  readonly prompt: ComparedPrompt
  /** The model; undefined for an arm with a loop of its own. */
  readonly adapter: ProviderAdapter | undefined
}

export function getModelName({ name, model }: ProviderAdapter): string {
  return `${name}/${model}`
}

export interface ConversationTerms<World> {
  readonly user: SimulatedUser<World> | undefined
  readonly maxUserTurns: number
  readonly counter: TokenCounter
  readonly meter: Meter
  onEvent(event: AgentEvent): void
}

/** The conversation of a run with its user. */
export class Conversation<World> {
  readonly observer: Observer
  readonly #run: PreparedRun<World>
  readonly #terms: ConversationTerms<World>
  readonly #host: HostListener | undefined
  readonly #adapter: ProviderAdapter | undefined
  readonly #said: string[] = []
  readonly #answers: string[] = []
  #messages: readonly Message[] = []
  #output: unknown
  model = ''
  userUsage: Usage | null = null

  constructor(run: PreparedRun<World>, terms: ConversationTerms<World>) {
    this.#run = run
    this.#terms = terms
    this.observer = observe(run.prompt, run.arm.open === 'all')
    this.#host = run.arm.host && followHost(terms.meter, this.observer.findTool)
    if (!run.adapter) return
    this.#adapter = measureAdapter(run.adapter, terms.meter)
    this.model = getModelName(run.adapter)
  }

  /** Says everything that the user says. Ends early if the agent does not answer. */
  async converse(): Promise<SavedRun['status']> {
    const { input, turns, user } = this.#run.start.case
    let status: SavedRun['status'] = 'completed'
    for (const turn of turns ?? (input === undefined ? [] : [input])) {
      status = await this.#answer(turn)
      if (status !== 'completed') return status
    }
    if (user !== undefined)
      for (let next = await this.#askUser(); next !== undefined; next = await this.#askUser()) {
        status = await this.#answer(next)
        if (status !== 'completed') return status
      }
    // Without a word of the user, the prompt says everything.
    if (this.#said.length === 0) return this.#answer(undefined)
    return status
  }

  getGraded(): GradedRun<World> {
    const { case: task, session, world, signal } = this.#run.start
    const answers = this.#answers
    const { calls } = this.observer
    const text = answers.at(-1) ?? ''
    return { case: task, text, output: this.#output, answers, calls, messages: this.#messages, session, world, signal }
  }

  async #answer(input: string | undefined): Promise<SavedRun['status']> {
    if (input !== undefined) this.#said.push(input)
    if (this.#run.arm.host) return this.#answerInHost(input ?? '')
    const { start, arm } = this.#run
    if (!this.#adapter) throw new FoldoutError('compare-invalid', `The arm '${start.arm}' has no adapter. Pass one.`)
    const { disclosure, visibility, overrides, open, options } = arm
    const result = await runAgent(this.observer.prompt as BoundPrompt, {
      counter: this.#terms.counter,
      ...options,
      ...dropUndefined({ disclosure, visibility, overrides, open, input }),
      adapter: this.#adapter,
      session: start.session,
      signal: start.signal,
      onEvent: (event) => this.#onEvent(event),
    })
    this.#messages = result.messages
    this.#answers.push(result.text)
    this.#output = result.output
    return result.status
  }

  async #answerInHost(input: string): Promise<SavedRun['status']> {
    const { start, arm } = this.#run
    const onEvent = (event: AgentEvent): void => this.#onEvent(event)
    const turn = { ...start, prompt: this.observer.prompt, input, messages: this.#messages, onEvent }
    const answer = await untilAborted(start.signal, async () => arm.host?.(turn))
    this.#messages = [...(this.#host?.messages ?? [])]
    this.#answers.push(answer?.text ?? '')
    this.#output = answer?.output
    return 'completed'
  }

  async #askUser(): Promise<string | undefined> {
    const { case: task, world, signal } = this.#run.start
    const { user, maxUserTurns } = this.#terms
    if (!user || this.#said.length >= maxUserTurns) return undefined
    const spend = (usage: Usage): void => {
      this.userUsage = addUsage(this.userUsage ?? NO_USAGE, usage)
    }
    const talk = { case: task, world, said: [...this.#said], answers: [...this.#answers], signal, spend }
    return untilAborted(signal, async () => user(talk))
  }

  #onEvent(event: AgentEvent): void {
    if (event.type === 'run/started' && this.#host) this.model = `${event.model.provider}/${event.model.name}`
    this.#host?.onEvent(event)
    this.observer.onEvent(event)
    this.#terms.onEvent(event)
  }
}
