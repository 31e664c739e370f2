import type {
  AssistantMessage,
  Evaluation,
  EvaluationResult,
  Message,
  ToolCall,
  ToolMessage,
  TurnOutcome,
} from '../../adapters/contract.ts'
import { estimatedTokens } from '../../core/tokens/tokens.ts'
import type { BoundPrompt } from '../../prompt/prompt.ts'
import type { RenderedPrompt } from '../../prompt/render/rendered-prompt.ts'
import { createSession } from '../../session/session.ts'
import type { Opening } from '../../tools/result.ts'
import { toolTokens, type AnyTool } from '../../tools/tool.ts'
import { LimitReachedError, RunAbortedError } from '../errors.ts'
import { promptRendered, runRestarted, toolInvoked, toolsInjected, type AgentEvent } from '../events.ts'
import { createJournal } from './journal.ts'
import { checkLimits } from '../limits.ts'
import type { AgentOptions, AgentResult, Turn } from '../options.ts'
import { takeFirst, mergeOpenings, type Expansion } from '../policy.ts'
import { quietSession } from './quiet-session.ts'
import { repairOrParse } from './repair.ts'
import { agentRun, type RunState } from './run-state.ts'
import { getTarget } from './call.ts'
import { createToolbox } from './toolbox.ts'
import { applyOpening, runTurn, type TurnContext } from './turn.ts'

/** How one evaluation ended. */
type Ended =
  | { readonly type: 'answer'; readonly text: string }
  | { readonly type: 'expansion'; readonly expansion: Expansion; readonly left: readonly string[] }
  | { readonly type: 'stop'; readonly reason: 'max-turns' | 'stop-when' }

export interface Run {
  /** Renders the prompt and asks the model until it answers, opens something that needs a new render, or is stopped. */
  evaluate(): Promise<Ended>
  /** Opens sections in the session and counts a restart. */
  expand(expansion: Expansion, left: readonly string[]): Promise<void>
  readonly state: RunState
  readonly turns: readonly Turn[]
  finish(ended: Exclude<Ended, { type: 'expansion' }>): Promise<AgentResult | 'repair'>
}

/** What a run shares is in this closure; what can stand alone is in files of its own. */
export function createRun(
  bound: Pick<BoundPrompt, 'render'>,
  options: AgentOptions,
  tell: (event: AgentEvent) => void,
): Run {
  const { adapter, maxTurns = 100, opening: policy = 'eager' } = options
  const warn = (message: string): void => tell({ type: 'warning', message })
  const session = quietSession(options.session ?? createSession({ slices: [agentRun] }), warn)
  const signal = options.signal ?? new AbortController().signal
  const journal = createJournal(session, options.state)
  const toolbox = createToolbox()
  const turns: Turn[] = []
  const waiting: Opening[] = []
  let rendered: RenderedPrompt
  let lastReply: AssistantMessage | undefined
  let ended: Ended | undefined

  const input: Message[] = options.input === undefined ? [] : [{ role: 'user', text: options.input }]
  // A conversation has to begin with the user; no provider takes an empty one.
  const first: Message[] = input.length > 0 ? input : [{ role: 'user', text: 'Begin.' }]
  // What the user says goes behind the results of calls that a killed process has left, or no provider takes them.
  const held = journal.state.status === 'new' ? [] : input
  if (journal.state.status === 'new') journal.record(agentRun.events.started({ messages: first }))

  const render = (): RenderedPrompt =>
    bound.render({
      session,
      ...(options.visibility ? { visibility: options.visibility } : {}),
      ...(options.overrides ? { overrides: options.overrides } : {}),
      ...(options.disclosure ? { disclosure: options.disclosure } : {}),
      ...(options.counter ? { counter: options.counter } : {}),
      ...(options.budget ? { budget: options.budget } : {}),
      ...(options.deadline ? { deadline: options.deadline } : {}),
    })
  const check = (): void => checkLimits({ limits: options.limits, deadline: options.deadline, signal }, journal.state)

  function takeRender(): void {
    rendered = render()
    toolbox.take(rendered)
    const event = {
      tools: rendered.tools.map(({ name }) => name),
      full: rendered.nodes.filter((node) => node.visibility === 'full').map(({ path }) => path),
      summarized: rendered.summarized,
    }
    session.dispatch(promptRendered(event))
    const shown = rendered
    tell({
      type: 'prompt/rendered',
      ...event,
      // Counted only if somebody asks.
      get tokens() {
        return shown.tokens
      },
      get tokensIfAllOpen() {
        return shown.tokensIfAllOpen
      },
    })
    journal.record(agentRun.events.disclosed({ names: event.tools }))
  }

  const context: TurnContext = {
    session,
    toolbox,
    signal,
    toolTimeoutMs: options.toolTimeoutMs,
    supportsDynamicTools: adapter.supportsDynamicTools,
    check,
    rendered: render,
    isDisclosure: (name) => rendered.disclosure.toolNames.includes(name),
    get tools() {
      return { session, deadline: options.deadline, filesystem: options.filesystem, prompt: rendered }
    },
    settled(message, invoked) {
      journal.record(agentRun.events.called({ result: message }))
      session.dispatch(toolInvoked(invoked))
      tell({ type: 'tool/invoked', ...invoked })
    },
    injected(event) {
      session.dispatch(toolsInjected(event))
      tell({ type: 'tools/injected', ...event })
      journal.record(agentRun.events.disclosed({ names: event.names }))
    },
    warn,
    refuseOpening: (opening, text) => tooLarge(opening, text),
  }

  /** Says with the numbers why an opening does not fit, if it does not. */
  function tooLarge(opening: Opening, text: string): string | undefined {
    const window = options.contextWindow ?? adapter.contextWindow
    if (window === undefined) return undefined
    const counter = options.counter ?? estimatedTokens
    const needed = counter.count(text) + opening.tools.reduce((sum, tool) => sum + toolTokens(tool, counter), 0)
    const conversation = journal.state.messages.reduce(
      (sum, message) => sum + counter.count(JSON.stringify(message)),
      0,
    )
    const used = rendered.tokens.total + conversation
    if (used + needed <= window) return undefined
    return `Opening ${opening.keys.join(', ')} needs about ${needed} tokens, but about ${used} of the model's ${window} are in use. Go on without it, or open something smaller.`
  }

  async function callTools(calls: readonly ToolCall[]): Promise<TurnOutcome> {
    for (const call of calls) {
      const target = getTarget(call, toolbox)
      tell({ type: 'tool/called', call, ...(target ? { target } : {}) })
    }
    const end = await runTurn(calls, context, journal.state.finished)
    await journal.saved()
    waiting.push(...end.waiting)
    const message = lastReply ?? { role: 'assistant', text: '', toolCalls: calls }
    const mustWait = policy === 'batched' && end.waiting.length > 0
    if (waiting.length > 0 && !mustWait) {
      const merged = mergeOpenings(waiting.splice(0))
      const { first, left } = policy === 'conservative' ? takeFirst(merged) : { first: merged, left: [] }
      ended = { type: 'expansion', expansion: first, left }
      turns.push({ type: 'restart', message, results: end.results, expansion: first })
      return { type: 'halt', results: withLeft(end.results, first, left) }
    }
    const added = end.added.map(({ name }) => name)
    turns.push(
      added.length > 0
        ? { type: 'injection', message, results: end.results, tools: added }
        : { type: 'tools', message, results: end.results },
    )
    if (options.stopWhen?.(turns)) ended = { type: 'stop', reason: 'stop-when' }
    else if (journal.state.turns >= maxTurns) ended = { type: 'stop', reason: 'max-turns' }
    return ended ? { type: 'halt', results: end.results } : { type: 'continue', results: end.results, added: end.added }
  }

  async function say(message: Message): Promise<void> {
    if (message.role === 'assistant') lastReply = message
    journal.record(agentRun.events.said({ message }))
    await journal.saved()
  }

  /** The calls of the last reply that have no result yet: a process that was killed has left them. */
  function unfinished(): readonly ToolCall[] {
    const { messages } = journal.state
    const at = messages.findLastIndex(({ role }) => role === 'assistant')
    const reply = messages[at]
    if (reply?.role !== 'assistant') return []
    lastReply = reply
    const answered = new Set(
      messages.slice(at + 1).flatMap((message) => (message.role === 'tool' ? [message.callId] : [])),
    )
    return reply.toolCalls.filter(({ id }) => !answered.has(id))
  }

  async function finishTurn(calls: readonly ToolCall[]): Promise<void> {
    const outcome = await callTools(calls)
    for (const result of outcome.results) await say(result)
    if (outcome.type === 'continue' && outcome.added.length > 0) {
      await say({ role: 'tools', names: outcome.added.map(({ name }) => name) })
    }
  }

  return {
    get state() {
      return journal.state
    },
    turns,
    async evaluate() {
      ended = undefined
      try {
        check()
        takeRender()
        const left = unfinished()
        if (left.length > 0) await finishTurn(left)
        for (const message of held.splice(0)) await say(message)
        if (ended) return ended
        const result = await adapter.evaluate(createEvaluation())
        return getEnd(result)
      } catch (error) {
        if (signal.aborted && !(error instanceof LimitReachedError))
          throw new RunAbortedError(journal.state, signal.reason)
        throw error
      }
    },
    async expand(expansion, left) {
      applyOpening(session, expansion.paths)
      journal.record(agentRun.events.restarted())
      const event = { ...expansion, expansions: journal.state.expansions }
      session.dispatch(runRestarted(event))
      tell({ type: 'run/expanded', ...event })
      if (left.length > 0)
        tell({ type: 'warning', message: `Opened ${expansion.keys.join(', ')} and not yet ${left.join(', ')}.` })
      const isAnswered = journal.state.messages.at(-1)?.role === 'assistant'
      if (isAnswered) await say({ role: 'user', text: `Now open: ${expansion.keys.join(', ')}. Go on.` })
      await journal.saved()
    },
    async finish(end) {
      let output: unknown
      if (end.type === 'answer') {
        const repaired = repairOrParse(rendered.output, end.text, journal.state.repairs < (options.maxRepairs ?? 2))
        if (repaired.type === 'repair') {
          tell({ type: 'output/refused', message: repaired.message, repairs: journal.state.repairs + 1 })
          journal.record(agentRun.events.repaired({ message: { role: 'user', text: repaired.message } }))
          await journal.saved()
          return 'repair'
        }
        output = repaired.value
      }
      journal.record(end.type === 'answer' ? agentRun.events.completed() : agentRun.events.stopped())
      await journal.saved()
      const { state } = journal
      const status = end.type === 'answer' ? 'completed' : 'stopped'
      tell({ type: 'run/finished', status, usage: state.usage })
      return {
        status,
        reason: end.type === 'stop' ? end.reason : undefined,
        text: end.type === 'answer' ? end.text : (lastReply?.text ?? ''),
        output,
        messages: state.messages,
        turns,
        usage: state.usage,
        expansions: state.expansions,
        state,
      }
    },
  }

  function createEvaluation(): Evaluation {
    const names = new Set(rendered.tools.map(({ name }) => name))
    const addedTools = new Map<string, AnyTool>()
    for (const message of journal.state.messages) {
      if (message.role !== 'tools') continue
      for (const name of message.names) {
        const found = toolbox.find(name)
        if ('tool' in found && !names.has(name)) addedTools.set(name, found.tool)
      }
    }
    return {
      system: rendered.text,
      tools: rendered.tools,
      addedTools,
      messages: journal.state.messages,
      output: rendered.output,
      signal,
      beforeRequest: async () => {
        await journal.saved()
        check()
      },
      callTools,
      record: say,
      emit(event) {
        if (event.type === 'reply/received') journal.record(agentRun.events.used({ usage: event.usage }))
        tell(event)
      },
    }
  }

  function getEnd(result: EvaluationResult): Ended {
    if (result.type === 'final') {
      if (lastReply) turns.push({ type: 'answer', message: lastReply })
      // Under the batched policy the model may end before it was shown what it asked for.
      if (waiting.length > 0) return { type: 'expansion', expansion: mergeOpenings(waiting.splice(0)), left: [] }
      return { type: 'answer', text: result.text }
    }
    return ended ?? { type: 'stop', reason: 'stop-when' }
  }
}

/** Tells the model which of the sections it asked for are open now. */
function withLeft(results: readonly ToolMessage[], first: Expansion, left: readonly string[]): readonly ToolMessage[] {
  if (left.length === 0) return results
  const note = ` Opened now: ${first.keys.join(', ')}. Ask again for: ${left.join(', ')}.`
  return results.map((result) =>
    result.text.startsWith('Sections requested for expansion:') ? { ...result, text: result.text + note } : result,
  )
}
