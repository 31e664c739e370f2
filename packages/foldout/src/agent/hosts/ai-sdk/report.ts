import type { LanguageModel, ModelMessage } from 'ai'
import { readStepUsage } from '../../../adapters/ai-sdk/usage.ts'
import type { RenderedPrompt } from '../../../prompt/render/rendered-prompt.ts'
import type { HostReport } from '../core/contract.ts'
import { getInputText } from './step-messages.ts'

interface Step {
  readonly prompt: RenderedPrompt
  readonly messages: readonly ModelMessage[]
  readonly tools: readonly string[]
  readonly model: LanguageModel | undefined
  readonly stepNumber: number | undefined
}

/** Reports a request, and the begin of a run with its first. */
export function reportStep(report: HostReport, { prompt, messages, tools, model, stepNumber }: Step): void {
  if (!report.isOn) return
  if (stepNumber === 0) report.started({ ...describeInput(messages.at(-1)), ...describeModel(model) })
  report.sent({ prompt, messages: messages.length, tools })
}

function describeInput(message: ModelMessage | undefined): { readonly input?: string } {
  const input = message && getInputText(message)
  return input === undefined ? {} : { input }
}

function describeModel(model: LanguageModel | undefined): Parameters<HostReport['started']>[0] {
  if (model === undefined) return {}
  if (typeof model === 'string') return { model: { provider: 'gateway', name: model } }
  return { model: { provider: model.provider, name: model.modelId } }
}

/** Reports the reply of a step, and the calls of the host's own tools. */
export function reportReply(report: HostReport, step: unknown, own: readonly string[]): void {
  // The SDK's steps are instances of a class.
  if (!report.isOn || typeof step !== 'object' || step === null) return
  const { text = '', toolCalls = [], content = [], usage = {}, providerMetadata } = step as FinishedStep
  const calls = toolCalls.map(({ toolCallId: id, toolName: name, input }) => ({ id, name, arguments: input }))
  report.replied({ text, calls, usage: readStepUsage(usage, providerMetadata) })
  for (const part of content) {
    const { type, toolCallId: id, toolName: name } = part
    if (type !== 'tool-result' || id === undefined || name === undefined || !own.includes(name)) continue
    const said = typeof part.output === 'string' ? part.output : (JSON.stringify(part.output) ?? '')
    report.called({ id, name, arguments: part.input }, { text: said, isError: false, durationMs: 0 })
  }
  if (content.some(({ type }) => type === 'tool-approval-request')) report.finished('waiting')
  else if (calls.length === 0) report.finished('completed')
}

interface FinishedStep {
  readonly text?: string
  readonly toolCalls?: readonly { readonly toolCallId: string; readonly toolName: string; readonly input: unknown }[]
  readonly content?: readonly {
    readonly type: string
    readonly toolCallId?: string
    readonly toolName?: string
    readonly input?: unknown
    readonly output?: unknown
  }[]
  readonly usage?: Parameters<typeof readStepUsage>[0]
  readonly providerMetadata?: unknown
}
