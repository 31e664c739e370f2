import {
  NO_USAGE,
  type Evaluation,
  type EvaluationResult,
  type ProviderAdapter,
  type ToolCall,
} from '../../adapters/contract.ts'
import { FoldoutError } from '../../core/errors.ts'
import { nearest } from '../../core/text.ts'
import type { TokenCounter } from '../../core/tokens/tokens.ts'
import type { OpeningCall } from '../../disclosure/strategy.ts'
import type { RenderedPrompt } from '../../prompt/render/rendered-prompt.ts'
import { toolDefinition, toolTokens, type AnyTool } from '../../tools/tool.ts'
import type { RecordingFilesystem } from './files.ts'
import { messagePart, type Part, type RequestParts } from './request.ts'
import type { ShownTexts } from './shown.ts'
import type { SimulatedAdapter, SimulatedCall, SimulationStep } from './simulate.ts'

interface Following {
  readonly steps: readonly SimulationStep[]
  readonly kind: SimulatedAdapter
  readonly counter: TokenCounter
  readonly files: RecordingFilesystem
  /** Every section of the prompt. */
  readonly paths: ReadonlySet<string>
  /** The prompt as the session has it now. */
  readonly render: () => RenderedPrompt
  readonly isShown: (path: string, texts: ShownTexts) => boolean
}

export interface FollowingAdapter extends ProviderAdapter {
  readonly requests: readonly RequestParts[]
  /** What the model has before it now. */
  readonly texts: ShownTexts
}

const READ_FILE = 'read_file'

/** What is in the conversation: something said or done, or tools that have joined. */
type Entry =
  | { readonly type: 'part'; readonly part: Part; readonly shows?: string }
  | { readonly type: 'tools'; readonly tools: readonly AnyTool[] }

/** A model that does what a run says, in the way that it is shown the prompt. */
export function followingAdapter(run: Following): FollowingAdapter {
  const { kind, counter, files } = run
  const requests: RequestParts[] = []
  const callable = new Set<string>()
  let conversation: readonly Entry[] = []
  let current: Evaluation
  let at = 0

  const toolPart = (tool: AnyTool): Part => ({
    text: JSON.stringify(toolDefinition(tool)),
    tokens: toolTokens(tool, counter),
  })
  const texts = (): ShownTexts => [
    current.system,
    ...conversation.flatMap((entry) => (entry.type === 'part' && entry.shows !== undefined ? [entry.shows] : [])),
  ]
  const keep = (...entries: readonly Entry[]): void => {
    conversation = [...conversation, ...entries]
  }

  function ask(): void {
    const added = conversation.flatMap((entry) => (entry.type === 'tools' ? entry.tools.map(toolPart) : []))
    const isAppended = kind === 'dynamic-plain'
    requests.push({
      tools: [...current.tools.map(toolPart), ...(isAppended ? added : [])],
      system: { text: current.system, tokens: counter.count(current.system) },
      messages: conversation.flatMap((entry) => {
        if (entry.type === 'part') return [entry.part]
        return isAppended ? [] : entry.tools.map(toolPart)
      }),
    })
  }

  /** Makes calls that the loop really runs; false if the prompt must be rendered again. */
  async function make(calls: readonly Omit<ToolCall, 'id'>[]): Promise<boolean> {
    ask()
    const toolCalls = calls.map((call, i) => ({ ...call, id: `call-${requests.length}-${i + 1}` }))
    keep({ type: 'part', part: messagePart({ role: 'assistant', text: '', toolCalls }, counter) })
    const outcome = await current.callTools(toolCalls)
    for (const result of outcome.results) {
      if (result.isError) throw impossible(at, `The run refuses it: ${result.text}`)
      keep({ type: 'part', part: messagePart(result, counter), shows: result.text })
    }
    if (outcome.type === 'halt') return false
    if (outcome.added.length > 0) keep({ type: 'tools', tools: outcome.added })
    for (const { name } of outcome.added) callable.add(name)
    return true
  }

  async function open(keys: readonly string[]): Promise<boolean> {
    const unknown = keys.find((key) => !run.paths.has(key))
    if (unknown !== undefined) {
      const near = nearest(unknown, run.paths)
      const hint = near.length > 0 ? ` Nearest sections: ${near.join(', ')}.` : ''
      throw impossible(at, `There is no section '${unknown}'.${hint}`)
    }
    const missing = keys.filter((key) => !run.isShown(key, texts()))
    if (missing.length === 0) return true
    const calls = getOpeningCalls(missing, new Set(current.tools.map(({ name }) => name)), run.render())
    if (!calls) throw impossible(at, `Nothing is offered to open ${missing.join(', ')} with.`)
    const goesOn = await make(calls)
    const written = files.takeWritten()
    if (written.length > 0) await read(written)
    return goesOn
  }

  /** Reads what a strategy has put into files: with the prompt's own tool if it has one, else with the host's. */
  async function read(paths: readonly string[]): Promise<void> {
    const calls = paths.map((path) => ({ name: READ_FILE, arguments: { path } }))
    if (callable.has(READ_FILE)) {
      await make(calls)
      return
    }
    ask()
    const toolCalls = calls.map((call) => ({ ...call, id: '' }))
    keep({ type: 'part', part: messagePart({ role: 'assistant', text: '', toolCalls }, counter) })
    for (const path of paths) {
      const text = await files.filesystem.read(path)
      keep({ type: 'part', part: { text, tokens: counter.count(text) }, shows: text })
    }
  }

  function pretend(calls: readonly SimulatedCall[]): void {
    const hidden = calls.find(({ name }) => !callable.has(name))
    if (hidden)
      throw impossible(at, `The tool '${hidden.name}' cannot be called yet. Open its section in an earlier step.`)
    ask()
    const names = calls.map(({ name }) => name)
    const tokens = calls.reduce((sum, call) => sum + counter.count(call.name) + call.argumentsTokens, 0)
    keep({ type: 'part', part: { text: `step ${at}: ${names.join(', ')}`, tokens } })
    for (const call of calls) {
      keep({ type: 'part', part: { text: `result of ${call.name}`, tokens: call.resultTokens } })
    }
  }

  return {
    name: 'simulation',
    model: 'simulation',
    supportsDynamicTools: kind !== 'restart',
    requests,
    get texts() {
      return texts()
    },
    async evaluate(evaluation): Promise<EvaluationResult> {
      const halted: EvaluationResult = { type: 'halted', usage: NO_USAGE }
      const isFirst = at === 0
      current = evaluation
      for (const { name } of evaluation.tools) callable.add(name)
      if (isFirst) {
        for (const message of evaluation.messages) {
          if (message.role !== 'tools') keep({ type: 'part', part: messagePart(message, counter) })
        }
      } else {
        // What has joined the conversation is part of the new render.
        conversation = conversation.filter(({ type }) => type !== 'tools')
      }
      for (;;) {
        const step = run.steps[at++]
        if (step === undefined) return halted
        if ('answers' in step) ask()
        else if ('calls' in step) pretend(step.calls)
        else if (!(await open(step.opens))) return halted
      }
    },
  }
}

function impossible(step: number, why: string): FoldoutError {
  return new FoldoutError('simulation-invalid', `Step ${step} of the run is not possible. ${why}`)
}

/** How a model that follows the summaries' last lines asks for sections, or nothing if no tool for it is offered. */
function getOpeningCalls(
  keys: readonly string[],
  offered: ReadonlySet<string>,
  { disclosure, view }: RenderedPrompt,
): readonly OpeningCall[] | undefined {
  const calls = disclosure.getCalls?.(view, keys) ?? []
  return calls.length > 0 && calls.every(({ name }) => offered.has(name)) ? calls : undefined
}
