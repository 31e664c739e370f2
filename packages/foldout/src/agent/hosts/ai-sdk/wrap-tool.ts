import type { ModelMessage, ToolSet } from 'ai'
import { toSdkSchema, type loadAi } from '../../../adapters/ai-sdk/package.ts'
import { FoldoutError, type ErrorCode } from '../../../core/errors.ts'
import { ignore } from '../../../core/promises.ts'
import type { Session } from '../../../session/session.ts'
import type { AnyTool, ApprovalNeed } from '../../../tools/tool.ts'
import { agentRun } from '../../state/run-state.ts'
import type { Host, HostCall, HostResult } from '../core/contract.ts'
import { rememberNeed } from '../core/asked.ts'
import { toHostTool } from '../core/host.ts'
import { rememberAdded } from './added-tools.ts'

export interface WrapperOptions {
  readonly host: Host
  readonly session: Session
  /** Whether the output of a tool that opens sections is their text, for people to see. */
  readonly showText: boolean
  /** Whether the provider takes added tools at their place in the conversation. */
  readonly addsInPlace: () => boolean
}

/** Creates a function that wraps Foldout tools as AI SDK tools. */
export function createToolWrapper(
  ai: Awaited<ReturnType<typeof loadAi>>,
  { host, session, showText, addsInPlace: canAdd }: WrapperOptions,
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
          return (await askApproval({ host, session }, { id, name, arguments: input })) !== false
        },
      }),
      async execute(input, { abortSignal: signal, toolCallId: id, messages }) {
        const call = { id, name, arguments: input }
        // The application may have replaced the check below by one of its own, which knows nothing of this tool.
        const isApproved = isApprovedIn(messages, id)
        const addsInPlace = canAdd()
        const result = await runInTurn(tool, () => host.at(session).call(call, { signal, isApproved, addsInPlace }))
        if (addsInPlace) rememberAdded(session, id, result.added)
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

/**
 * Says for version 7 which calls a person has to approve, and why. Version 6 asks the tool itself, without a reason.
 *
 * @example
 * ```ts
 * const { toolApproval } = await createDisclosure({ prompt: bound, session })
 * const settings = { toolApproval: { ...toolApproval, delete_account: 'user-approval' } }
 * ```
 */
export type ToolApprovals = Readonly<Record<string, ToolApproval>>

/**
 * Decides whether a call needs the approval of a person.
 *
 * @example
 * ```ts
 * const decide: ToolApproval = async () => ({ type: 'user-approval', reason: 'Money leaves the account.' })
 * ```
 */
export type ToolApproval = (
  input: unknown,
  call: { readonly toolCallId: string },
) => Promise<{ readonly type: 'user-approval'; readonly reason?: string } | undefined>

export function createApprovals(
  parts: Pick<WrapperOptions, 'host' | 'session'>,
  tools: readonly AnyTool[],
): ToolApprovals {
  const approvals = tools.flatMap(({ name, needsApproval }): (readonly [string, ToolApproval])[] => {
    if (!needsApproval) return []
    const approve: ToolApproval = async (input, { toolCallId: id }) => {
      const need = await askApproval(parts, { id, name, arguments: input })
      if (need === false) return undefined
      return { type: 'user-approval', ...(typeof need === 'string' && { reason: need }) }
    }
    return [[name, approve]]
  })
  return Object.fromEntries(approvals)
}

async function askApproval(
  { host, session }: Pick<WrapperOptions, 'host' | 'session'>,
  call: HostCall,
): Promise<ApprovalNeed> {
  const need = await host.at(session).findApprovalNeed(call)
  for (const event of rememberNeed(session, call, need)) session.dispatch(event)
  if (need !== false) host.report.asked(call, need)
  return need
}

/** Whether a conversation has a person's approval of a call. */
function isApprovedIn(messages: readonly ModelMessage[], callId: string): boolean {
  const asked = new Set<string>()
  for (const { content } of messages) {
    if (typeof content === 'string') continue
    for (const part of content) {
      if (part.type === 'tool-approval-request' && part.toolCallId === callId) asked.add(part.approvalId)
      if (part.type === 'tool-approval-response' && part.approved && asked.has(part.approvalId)) return true
    }
  }
  return false
}

/**
 * Creates an error whose text is its message alone: version 7 puts the name of an error before it, and version 6.0.0 sends
 * the error of an approved call as JSON.
 */
export function createPlainError(code: ErrorCode, message: string): FoldoutError {
  const error = new FoldoutError(code, message)
  return Object.defineProperties(error, { name: { value: '' }, toJSON: { value: () => message } })
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
