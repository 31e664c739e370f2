import type { ToolCall } from '../../adapters/contract.ts'
import { getErrorMessage, getErrorType, isReadableError } from '../../core/errors.ts'
import { estimatedTokens } from '../../core/tokens/tokens.ts'
import type { BoundPrompt } from '../../prompt/prompt.ts'
import type { RenderedPrompt } from '../../prompt/render/rendered-prompt.ts'
import { createSession, type Session } from '../../session/session.ts'
import type { AnyTool } from '../../tools/tool.ts'
import { describeOpen } from '../../disclosure/opening.ts'
import { describeUnapproved } from '../../tools/approval.ts'
import type { ThrownByTool } from '../../tools/thrown.ts'
import { approvalAsked, toolInvoked, type AgentEvent } from '../events.ts'
import { assertAccepted, toUserMessage } from '../input.ts'
import { DEFAULT_CALLS_PER_REPLY, DEFAULT_PARALLEL_CALLS } from '../limits.ts'
import type { AgentOptions } from '../options.ts'
import { checkOptions, checkSpent } from './bounds.ts'
import { createScribe } from './evaluation.ts'
import { createJournal } from './session/journal.ts'
import { claimSession, createQuietSession, isInTool } from './session/run-session.ts'
import { createRunSignal, type RunSignal } from './session/run-signal.ts'
import { agentRun, getLog } from '../state/run-state.ts'
import type { AskOutcome } from './calls/call.ts'
import { findOpenBody, listShown } from './start.ts'
import { createToolbox } from './calls/toolbox.ts'
import { findUnfinished } from './calls/unfinished.ts'
import type { TurnContext } from './calls/turn.ts'
import { createWindowCheck } from './calls/window.ts'
import { createRunAhead } from '../ahead/run-ahead.ts'
import { createContextCount } from '../refold/context-count.ts'
import type { Delegation, Offer, RunCore } from './run-core.ts'
import { createRunRefold } from './fold-back.ts'
import { canReadResults, createReadResult } from './fold-tools.ts'
import { READ_RESULT } from '../../results/read-result.ts'

const NO_OFFER: Offer = { system: '', tools: [] }

/** Creates everything that a run needs, and claims its session. Throws if the run cannot begin. */
export function createCore(
  bound: Pick<BoundPrompt, 'render'>,
  options: AgentOptions,
  tell: (event: AgentEvent) => void,
  delegation: Delegation,
): RunCore {
  checkOptions(options)
  const input = options.input === undefined ? undefined : toUserMessage(options.input)
  if (input) assertAccepted(input, options.adapter)
  const given = options.session ?? createSession()
  const signal = createRunSignal(options.signal, options.deadline)
  const unclaim = claim(given, signal)
  const release = (): void => {
    signal.close()
    unclaim()
  }
  try {
    const warn = (message: string): void => tell({ type: 'warning', message })
    const session = createQuietSession(given, warn)
    const journal = createJournal(session, { state: options.state, isInTool: isInTool(given) })
    const render = (): RenderedPrompt => bound.render(getRenderOptions(session, options))
    const { asker } = delegation
    const check = (): void => {
      asker?.check()
      signal.check(journal.state)
      checkSpent(options.limits ?? {}, journal.state)
    }
    const isDisclosed = (name: string): boolean => journal.state.disclosed.includes(name)
    const parts = { bound, delegation, asker, options, input, session, journal, signal, render, check, tell, release }
    const readResult = createReadResult(
      () => journal.state.messages,
      (read) => tell({ type: 'result/read', ...read }),
    )
    const findOwn = (name: string): AnyTool | undefined =>
      name === READ_RESULT && canReadResults(journal) ? readResult : undefined
    const toolbox = createToolbox({ render, isDisclosed, findOwn })
    let rendered: RenderedPrompt | undefined
    const core: Omit<RunCore, 'turn' | 'refold'> = {
      ...parts,
      scribe: createScribe(journal),
      toolbox,
      readResult,
      context: createContextCount(options.counter ?? estimatedTokens, () => ({
        system: core.offer.system,
        version: toolbox.version,
        listTools: toolbox.listOffered,
      })),
      ahead: createRunAhead(),
      due: undefined,
      turns: [],
      held: [],
      running: undefined,
      lease: undefined,
      lost: undefined,
      offer: NO_OFFER,
      mustRender: options.rerender ?? false,
      get rendered() {
        return (rendered ??= render())
      },
      set rendered(now: RenderedPrompt) {
        rendered = now
      },
    }
    const withRefold = Object.assign(core, { refold: createRunRefold(core) })
    const ask = (call: ToolCall): Promise<AskOutcome> => delegation.ask(whole, call)
    const whole: RunCore = Object.assign(withRefold, { turn: createTurnContext(withRefold, warn, ask) })
    return whole
  } catch (error) {
    release()
    throw error
  }
}

function claim(session: Session, signal: RunSignal): () => void {
  try {
    return claimSession(session)
  } catch (error) {
    signal.close()
    throw error
  }
}

function getRenderOptions(session: Session, options: AgentOptions): Parameters<BoundPrompt['render']>[0] {
  return {
    session,
    price: { cache: options.adapter.promptCache, perHour: options.perHour },
    delegation: true,
    ...(options.visibility && { visibility: options.visibility }),
    ...(options.overrides && { overrides: options.overrides }),
    ...(options.disclosure && { disclosure: options.disclosure }),
    ...(options.counter && { counter: options.counter }),
    ...(options.budget && { budget: options.budget }),
    ...(options.deadline && { deadline: options.deadline }),
  }
}

function createTurnContext(
  core: Omit<RunCore, 'turn'>,
  warn: (message: string) => void,
  ask: TurnContext['ask'],
): TurnContext {
  const { options, session, journal, signal, toolbox, tell } = core
  const { adapter } = options
  const onToolError = (thrown: ThrownByTool): string | undefined => {
    tell(describeToolError(thrown))
    return options.onToolError?.(thrown)
  }
  return {
    session,
    toolbox,
    warn,
    ask,
    policy: options.opening ?? 'eager',
    parallelCalls: options.maxParallelCalls ?? DEFAULT_PARALLEL_CALLS,
    callsPerReply: options.maxCallsPerReply ?? DEFAULT_CALLS_PER_REPLY,
    render: core.render,
    check: core.check,
    fork: () => signal.fork(options.toolTimeoutMs),
    canAddTools: () => adapter.supportsDynamicTools,
    isDisclosure: (name) => core.rendered.disclosure.toolNames.includes(name),
    describeOpen: (keys) => describeOpenSections(core, keys),
    getPending: () => journal.state.pending,
    getKey: (callId) => (journal.state.id === '' ? callId : `${journal.state.id}/${callId}`),
    approval: createApprovals(core),
    get tools() {
      const { deadline, filesystem } = options
      const { addsInPlace = false } = adapter
      return { session, deadline, filesystem, prompt: core.rendered, addsInPlace, onToolError }
    },
    async begins(call) {
      journal.record(agentRun.events.calling(call))
      // If another process has taken over the run, this fails before the tool runs.
      await journal.saved()
    },
    settled({ message, invoked, hasRunAgent }, opening) {
      journal.record(agentRun.events.called({ result: message, ...(opening ? { opening } : {}) }))
      // Its answer is the only trace of a conversation that is not kept.
      if (hasRunAgent) journal.record(agentRun.events.folded({ folded: [{ callId: message.callId, form: 'kept' }] }))
      session.dispatch(toolInvoked(invoked))
      tell({ type: 'tool/invoked', ...invoked })
    },
    showed(paths) {
      journal.record(agentRun.events.shown({ sections: listShown(core.render(), paths) }))
    },
    refuseOpening: createWindowCheck({
      size: options.contextWindow ?? adapter.contextWindow,
      counter: options.counter ?? estimatedTokens,
      // What openings of this reply need is counted by the check.
      countUsed: () =>
        core.refold.count(
          journal.state.finished.filter(({ name }) => !core.rendered.disclosure.toolNames.includes(name)),
        ),
      getLength: () => getLog(journal.state).length,
    }),
  }
}

/** Finds the text of open sections in what the model has been sent. */
function describeOpenSections(core: Omit<RunCore, 'turn'>, keys: readonly string[]): string | undefined {
  const { journal, offer, refold } = core
  const now = core.render()
  const bodies = keys.map((key) => findOpenBody(now, now.view.resolve(key) ?? key))
  if (bodies.length === 0) return undefined
  const isIn = (text: string): boolean => bodies.every((body) => body !== undefined && text.includes(body))
  if (isIn(offer.system)) return describeOpen('system')
  const sent = [...refold.ledger.sent, ...journal.state.finished]
  return sent.some((message) => 'text' in message && isIn(message.text)) ? describeOpen('conversation') : undefined
}

function describeToolError({ tool: name, callId = '', error, isMistake }: ThrownByTool): AgentEvent {
  const stack = isReadableError(error) && typeof error.stack === 'string' ? { stack: error.stack } : {}
  const message = getErrorMessage(error)
  return { type: 'tool/threw', callId, name, errorType: getErrorType(error), message, ...stack, isMistake }
}

function createApprovals(core: Omit<RunCore, 'turn'>): TurnContext['approval'] {
  const { options, session, journal, tell } = core
  return {
    getState: () => journal.state,
    needsApproval: options.needsApproval,
    interruptedCalls: options.interruptedCalls ?? 'tell',
    ttlMs: options.approvalTtlMs,
    findSection: (tool) => core.render().findSection(tool),
    refuseWait({ id, name }) {
      // A call cannot wait if new user input is queued behind it, or if it is not part of this conversation.
      const isOurs = findUnfinished(journal.state.messages).calls.some((call) => call.id === id)
      const canWait = isOurs && canPause(core)
      return canWait ? undefined : describeUnapproved(name)
    },
    asked(request) {
      journal.record(agentRun.events.asked({ request }))
      session.dispatch(approvalAsked(request))
      tell({ type: 'approval/asked', ...request })
    },
  }
}

/** A run cannot pause if new user input is queued behind its calls; neither can one that answers such a run. */
function canPause({ held, options, asker }: Pick<RunCore, 'held' | 'options' | 'asker'>): boolean {
  return held.length === 0 && (options.adapter.canPause ?? true) && (!asker || canPause(asker))
}
