import {
  NO_USAGE,
  type AssistantMessage,
  type Evaluation,
  type EvaluationResult,
  type ProviderAdapter,
  type ToolCall,
} from '../../adapters/contract.ts'
import { FoldoutError } from '../../core/errors.ts'
import type { PromptCache } from '../../core/price/prompt-cache.ts'
import { nearest } from '../../core/text.ts'
import type { TokenCounter } from '../../core/tokens/tokens.ts'
import type { OpeningCall } from '../../disclosure/strategy.ts'
import { isSummaryRequest } from '../../agent/loop/summarize.ts'
import type { RenderedPrompt } from '../../prompt/render/rendered-prompt.ts'
import { READ_RESULT } from '../../results/read-result.ts'
import type { RecordingFilesystem } from './files.ts'
import type { KeptConversation, KeptResult } from './kept-conversation.ts'
import { messagePart, type RequestParts } from './request.ts'
import type { ShownTexts } from './shown.ts'
import type { SimulatedAdapter, SimulatedCall, SimulatedNeed, SimulatedTalk, SimulationStep } from './contract.ts'
import { createTranscript, type Transcript } from './transcript.ts'

interface FollowedRun {
  readonly steps: readonly SimulationStep[]
  readonly kind: SimulatedAdapter
  readonly counter: TokenCounter
  readonly files: RecordingFilesystem
  /** Every section of the prompt. */
  readonly paths: ReadonlySet<string>
  /** Renders the prompt for the current state of the session. */
  readonly render: () => RenderedPrompt
  readonly isShown: (path: string, texts: ShownTexts) => boolean
  readonly promptCache: PromptCache
  /** The conversation as the loop keeps it, if it may fold. */
  readonly kept: KeptConversation | undefined
}

export interface StepAdapter extends ProviderAdapter {
  readonly requests: readonly RequestParts[]
  /** Returns the texts that the model can read now. */
  getTexts(): ShownTexts
  /** Returns what the person said last, if the conversation goes on with it. */
  takeHeard(): string | undefined
  /** Whether the run stopped so that the loop can fold, and the model has steps left. */
  isLeft(): boolean
}

const READ_FILE = 'read_file'
const CHARACTERS_PER_TOKEN = 4

/** Creates an adapter whose model takes the steps of a run, however the prompt is shown to it. */
export function createStepAdapter(run: FollowedRun): StepAdapter {
  const transcript = createTranscript(run.kind, run.counter)
  let model: SimulatedModel | undefined
  let taken = 0
  let heard: string | undefined
  /** How many messages of the person the transcript has. */
  let known = 0
  const { kept } = run
  return {
    name: 'simulation',
    model: 'simulation',
    supportsDynamicTools: run.kind !== 'restart',
    promptCache: run.promptCache,
    requests: transcript.requests,
    getTexts: transcript.getTexts,
    takeHeard() {
      const said = heard
      heard = undefined
      return said
    },
    isLeft: () => kept !== undefined && taken < run.steps.length,
    async evaluate(evaluation): Promise<EvaluationResult> {
      const halted: EvaluationResult = { type: 'halted', usage: NO_USAGE }
      takeEvaluation(evaluation)
      if (kept) await evaluation.beforeRequest()
      if (kept && isSummaryRequest(evaluation)) return summarize(kept)
      model = createSimulatedModel(run, { transcript, evaluation, callable: model?.callable ?? new Set() })
      for (;;) {
        const step = run.steps[taken++]
        if (step === undefined) return halted
        if ('answers' in step) transcript.addRequest(step.answers)
        else if ('says' in step) {
          if (!(await listen(step, evaluation))) continue
          return { type: 'final', text: '', usage: NO_USAGE }
        } else if ('calls' in step) {
          await model.pretendToCall(step.calls, taken)
          if (kept) return halted
        } else if ('needs' in step) {
          if (!(await model.readAgain(step.needs, taken))) return halted
        } else if (!(await model.open(step.opens, taken))) return halted
      }
    },
  }

  function takeEvaluation(evaluation: Evaluation): void {
    transcript.setPrompt(evaluation)
    if (kept) transcript.setMessages(evaluation)
    const said = evaluation.messages.filter((message) => message.role === 'user')
    for (const message of kept ? [] : said.slice(known)) transcript.addMessage(message)
    known = said.length
    transcript.addTools(evaluation.addedTools.values())
  }

  /** The model says something, and hears a person. Returns whether the conversation goes on with the person's words. */
  async function listen({ says, hears, afterMs = 0 }: SimulatedTalk, evaluation: Evaluation): Promise<boolean> {
    transcript.addRequest(says)
    transcript.wait(afterMs)
    if (kept) {
      await kept.say(says, evaluation)
      kept.replied(afterMs)
      if (typeof hears === 'string') heard = hears
      else heard = kept.write(hears)
      return true
    }
    transcript.addPart({ text: `said in step ${taken}`, tokens: says })
    if (typeof hears === 'number') transcript.addPart({ text: `heard in step ${taken}`, tokens: hears })
    else heard = hears
    return heard !== undefined
  }

  /** The run asks its own model for a summary. */
  function summarize({ write }: KeptConversation): EvaluationResult {
    transcript.addRequest(SUMMARY_TOKENS)
    return { type: 'final', text: write(SUMMARY_TOKENS), usage: NO_USAGE }
  }
}

/** How long the summary of a conversation is taken to be. */
const SUMMARY_TOKENS = 800

interface SimulatedModel {
  /** The names of the tools that the model has been offered. */
  readonly callable: Set<string>
  /** Opens sections that are not shown yet; returns false if the prompt must be rendered again. */
  open(keys: readonly string[], step: number): Promise<boolean>
  /** Adds the cost of calls without running the tools. */
  pretendToCall(calls: readonly SimulatedCall[], step: number): Promise<void>
  /** Reads what is folded of earlier results; returns false if the run continues with another request. */
  readAgain(needs: readonly SimulatedNeed[], step: number): Promise<boolean>
}

interface ModelContext {
  readonly transcript: Transcript
  readonly evaluation: Evaluation
  readonly callable: Set<string>
}

/** Creates a function that makes calls which the loop runs. It returns false if the prompt must be rendered again. */
function createCaller({ counter, kept }: FollowedRun, { transcript, evaluation, callable }: ModelContext) {
  return async (calls: readonly Omit<ToolCall, 'id'>[], step: number): Promise<boolean> => {
    const toolCalls = calls.map((each, i) => ({ ...each, id: `call-${transcript.requests.length + 1}-${i + 1}` }))
    const message: AssistantMessage = { role: 'assistant', text: '', toolCalls }
    transcript.addRequest(messagePart(message, counter).tokens)
    kept?.replied(0)
    transcript.addMessage(message)
    await evaluation.record(message)
    const outcome = await evaluation.callTools(toolCalls)
    for (const result of outcome.results) {
      if (result.isError) throw createStepError(step, `The run rejects it: ${result.text}`)
      transcript.addMessage(result)
      await evaluation.record(result)
    }
    if (outcome.type === 'halt') return false
    const names = outcome.added.map(({ name }) => name)
    transcript.addTools(outcome.added)
    if (names.length > 0) await evaluation.record({ role: 'tools', names })
    for (const name of names) callable.add(name)
    return true
  }
}

/** The model between two renders of the prompt. */
function createSimulatedModel(run: FollowedRun, context: ModelContext): SimulatedModel {
  const { counter, files, kept } = run
  const { transcript, evaluation, callable } = context
  for (const { name } of [...evaluation.tools, ...evaluation.addedTools.values()]) callable.add(name)
  const call = createCaller(run, context)

  /**
   * Reads the files that a strategy has written: with the prompt's own tool if it has one, otherwise with the host's.
   */
  async function read(paths: readonly string[], step: number): Promise<void> {
    const calls = paths.map((path) => ({ name: READ_FILE, arguments: { path } }))
    if (callable.has(READ_FILE)) {
      await call(calls, step)
      return
    }
    const toolCalls = calls.map((each) => ({ ...each, id: '' }))
    const message: AssistantMessage = { role: 'assistant', text: '', toolCalls }
    transcript.addRequest(messagePart(message, counter).tokens)
    transcript.addMessage(message)
    for (const path of paths) {
      const text = await files.filesystem.read(path)
      transcript.addPart({ text, tokens: counter.count(text) }, text)
    }
  }

  return {
    callable,
    async open(keys, step) {
      checkKeys(keys, run.paths, step)
      const missing = keys.filter((key) => !run.isShown(key, transcript.getTexts()))
      if (missing.length === 0) return true
      const calls = getOpeningCalls(missing, new Set(evaluation.tools.map(({ name }) => name)), run.render())
      if (!calls) throw createStepError(step, `No tool is offered that opens ${missing.join(', ')}.`)
      const goesOn = await call(calls, step)
      const written = files.takeWritten()
      if (written.length > 0) await read(written, step)
      return goesOn
    },
    async readAgain(needs, step) {
      if (!kept) return true
      const missing = needs.flatMap(({ call: number, tokens }): readonly ToolCall['arguments'][] => {
        const found = kept.find(number, evaluation)
        if (!found) throw createStepError(step, `There was no call ${number} before it.`)
        if (found.isWhole) return []
        return [getMiddle(found, tokens)]
      })
      if (missing.length === 0) return true
      return call(
        missing.map((args) => ({ name: READ_RESULT, arguments: args })),
        step,
      )
    },
    async pretendToCall(calls, step) {
      checkCallable(calls, callable, step)
      const names = calls.map(({ name }) => name)
      const tokens = calls.reduce((sum, each) => sum + counter.count(each.name) + each.argumentsTokens, 0)
      transcript.addRequest(tokens)
      kept?.replied(0)
      if (kept) return kept.call(calls, evaluation)
      transcript.addPart({ text: `step ${step}: ${names.join(', ')}`, tokens })
      for (const { name, resultTokens } of calls) {
        transcript.addPart({ text: `result of ${name}`, tokens: resultTokens })
      }
    },
  }
}

/** Returns the arguments that read this many tokens of a result, somewhere in the middle. */
function getMiddle({ handle, characters }: KeptResult, tokens: number): ToolCall['arguments'] {
  const count = Math.min(characters, Math.max(1, tokens * CHARACTERS_PER_TOKEN))
  const from = 1 + Math.floor((characters - count) / 2)
  return { result: handle, unit: 'characters', from, count }
}

function checkCallable(calls: readonly SimulatedCall[], callable: ReadonlySet<string>, step: number): void {
  const missing = calls.find(({ name }) => !callable.has(name))
  if (!missing) return
  const why = `The tool '${missing.name}' cannot be called yet. Open its section in an earlier step.`
  throw createStepError(step, why)
}

function checkKeys(keys: readonly string[], paths: ReadonlySet<string>, step: number): void {
  const unknown = keys.find((key) => !paths.has(key))
  if (unknown === undefined) return
  const near = nearest(unknown, paths)
  const hint = near.length > 0 ? ` Nearest sections: ${near.join(', ')}.` : ''
  throw createStepError(step, `There is no section '${unknown}'.${hint}`)
}

function createStepError(step: number, why: string): FoldoutError {
  return new FoldoutError('simulation-invalid', `Step ${step} of the run is not possible. ${why}`)
}

/** Returns the calls with which a model opens sections, or undefined if a tool for them is not offered. */
function getOpeningCalls(
  keys: readonly string[],
  offered: ReadonlySet<string>,
  { disclosure, view }: RenderedPrompt,
): readonly OpeningCall[] | undefined {
  const calls = disclosure.getCalls?.(view, keys) ?? []
  if (calls.length > 0 && calls.every(({ name }) => offered.has(name))) return calls
  return undefined
}
