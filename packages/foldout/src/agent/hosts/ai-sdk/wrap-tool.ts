import type { ToolSet } from 'ai'
import { toSdkSchema, type loadAi } from '../../../adapters/ai-sdk/package.ts'
import { FoldoutError, type ErrorCode } from '../../../core/errors.ts'
import { ignore } from '../../../core/promises.ts'
import type { Session } from '../../../session/session.ts'
import type { AnyTool } from '../../../tools/tool.ts'
import { agentRun } from '../../loop/run-state.ts'
import type { Host, HostResult } from '../core/contract.ts'
import { toHostTool } from '../core/host.ts'

export interface WrapperOptions {
  readonly host: Host
  readonly session: Session
  /** Whether the output of a tool that opens sections is their text, for people to see. */
  readonly showText: boolean
}

/** Creates a function that wraps Foldout tools as AI SDK tools. */
export function createToolWrapper(
  ai: Awaited<ReturnType<typeof loadAi>>,
  { host, session, showText }: WrapperOptions,
): (tool: AnyTool) => ToolSet[string] {
  const runInTurn = createTurnstile()
  return (tool) => {
    const { name, description, inputSchema } = toHostTool(tool)
    return ai.dynamicTool({
      description,
      inputSchema: toSdkSchema(ai, inputSchema),
      // The SDK itself pauses, and runs the call once its caller sends back the approval.
      ...(tool.needsApproval && {
        async needsApproval(input: unknown, { toolCallId: id }: { readonly toolCallId: string }) {
          const call = { id, name, arguments: input }
          const need = await host.at(session).findApprovalNeed(call)
          if (need === false) return false
          host.report.asked(call, need)
          return true
        },
      }),
      async execute(input, { abortSignal: signal, toolCallId: id }) {
        const call = { id, name, arguments: input }
        const result = await runInTurn(tool, () => host.at(session).call(call, { signal, isApproved: true }))
        // Thrown so the SDK marks the result as an error; the model reads the message unchanged.
        if (result.isError) throw createPlainError('tool-failed', result.text)
        const output = showText ? result.text : (result.notice ?? result.text)
        if (output !== result.text || result.images.length > 0) keepResult(session, call, result)
        return output
      },
      toModelOutput: ({ toolCallId, output }) => toModelOutput(session, toolCallId, String(output)),
    })
  }
}

/** Creates an error whose text is its message alone: version 7 puts the name of an error before it. */
export function createPlainError(code: ErrorCode, message: string): FoldoutError {
  return Object.defineProperty(new FoldoutError(code, message), 'name', { value: '' })
}

/** Keeps what the model reads in the session, so that later requests read the same, also in another process. */
function keepResult(
  session: Session,
  { id, name }: { readonly id: string; readonly name: string },
  { text, images }: HostResult,
): void {
  const result = { role: 'tool', callId: id, name, text, isError: false, ...(images.length > 0 && { images }) } as const
  session.dispatch(agentRun.events.called({ result }))
}

type ModelOutput = ReturnType<NonNullable<ToolSet[string]['toModelOutput']>>

function toModelOutput(session: Session, callId: string, output: string): Awaited<ModelOutput> {
  const kept = session.get(agentRun).finished.findLast((result) => result.callId === callId)
  const { text = output, images = [] } = kept ?? {}
  if (images.length === 0) return { type: 'text', value: text }
  const pictures = images.map(({ mimeType, data }) => ({ type: 'image-data' as const, data, mediaType: mimeType }))
  return { type: 'content', value: [{ type: 'text', text }, ...pictures] }
}

/** Lets calls run concurrently, but an exclusive one only when no other runs. */
function createTurnstile(): <T>(call: { readonly exclusive: boolean }, work: () => Promise<T>) => Promise<T> {
  let exclusive: Promise<unknown> = Promise.resolve()
  let shared = new Set<Promise<unknown>>()
  return ({ exclusive: isExclusive }, work) => {
    if (isExclusive) {
      const running = Promise.allSettled([exclusive, ...shared]).then(work)
      shared = new Set()
      exclusive = ignore(running, 'the caller is told')
      return running
    }
    const running = exclusive.then(work)
    const among = shared.add(running)
    const leave = (): boolean => among.delete(running)
    running.then(leave, leave)
    return running
  }
}
