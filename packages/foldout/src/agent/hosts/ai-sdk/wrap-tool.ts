import type { ToolSet } from 'ai'
import { toSdkSchema, type loadAi } from '../../../adapters/ai-sdk/package.ts'
import { toToolParameters } from '../../../adapters/tool-schemas.ts'
import { FoldoutError } from '../../../core/errors.ts'
import { describeOpened } from '../../../disclosure/opening.ts'
import { hashCall } from '../../../tools/approval.ts'
import { checkArguments, executeTool } from '../../../tools/execute.ts'
import type { ToolSuccess } from '../../../tools/result.ts'
import type { AnyTool, ToolContext } from '../../../tools/tool.ts'
import { findTarget } from '../../loop/calls/call.ts'

export interface WrapperOptions {
  /** Whether the output of a tool is the text that the model reads. */
  readonly showText: (name: string) => boolean
  readonly getContext: () => Omit<ToolContext, 'signal'>
  readonly onSuccess: (result: ToolSuccess) => void
}

/** Creates a function that wraps Foldout tools as AI SDK tools. */
export function createToolWrapper(
  ai: Awaited<ReturnType<typeof loadAi>>,
  { showText, getContext, onSuccess }: WrapperOptions,
): (tool: AnyTool) => ToolSet[string] {
  const runInTurn = createTurnstile()
  /** The texts for the model, by call, if the output says less. */
  const texts = new Map<string, string>()
  const createContext = (callId: string, signal = new AbortController().signal): ToolContext => ({
    ...getContext(),
    callId,
    idempotencyKey: callId,
    signal,
  })
  return (tool) =>
    ai.dynamicTool({
      description: tool.description,
      inputSchema: toSdkSchema(ai, toToolParameters(tool.inputSchema, 'openai')),
      // The SDK itself pauses, and runs the call once its caller sends back the approval.
      ...(tool.needsApproval && {
        needsApproval: (input: unknown, { toolCallId }: { readonly toolCallId: string }) =>
          isApprovalNeeded(tool, input, createContext(toolCallId)),
      }),
      async execute(input, { abortSignal, toolCallId }) {
        const context = createContext(toolCallId, abortSignal)
        const target = findTarget({ arguments: input }, tool)
        const clearedCall = hashCall(target?.name ?? tool.name, target?.arguments ?? input)
        const result = await runInTurn(tool, () =>
          executeTool(tool, input, { ...context, clearedCall }, { isCleared: true }),
        )
        // Thrown so the SDK marks the result as an error; the model reads the message unchanged.
        if (!result.ok) throw new FoldoutError('tool-failed', result.message)
        onSuccess(result)
        if (showText(tool.name)) return result.message
        texts.set(toolCallId, result.message)
        return describeOutput(result)
      },
      // A call from an earlier request is unknown here; its section is in the system text by now, as the notice says.
      toModelOutput: ({ toolCallId, output }) => ({ type: 'text', value: texts.get(toolCallId) ?? String(output) }),
    })
}

/**
 * Calls with wrong arguments need no approval, because they fail. If the need for approval cannot be determined, a call
 * needs it.
 */
async function isApprovalNeeded(tool: AnyTool, input: unknown, context: ToolContext): Promise<boolean> {
  const transaction = context.session.begin()
  try {
    const checked = await checkArguments(tool, input)
    if (checked.issues) return false
    return (await tool.needsApproval?.(checked.value, { ...context, session: transaction.session })) !== false
  } catch {
    return true
  } finally {
    transaction.abandon()
  }
}

/** Describes a disclosure call for people: the sections that it opened, but not their text. */
function describeOutput({ opening }: ToolSuccess): string {
  return opening ? describeOpened({ keys: opening.keys, tools: opening.tools.length > 0 }) : 'Nothing new was opened.'
}

/** Lets calls run concurrently, but an exclusive one only when no other runs. */
function createTurnstile(): <T>(call: { readonly exclusive: boolean }, work: () => Promise<T>) => Promise<T> {
  let exclusive: Promise<unknown> = Promise.resolve()
  let shared = new Set<Promise<unknown>>()
  return ({ exclusive: isExclusive }, work) => {
    if (isExclusive) {
      const running = Promise.allSettled([exclusive, ...shared]).then(work)
      shared = new Set()
      exclusive = running.catch(() => {})
      return running
    }
    const running = exclusive.then(work)
    const among = shared.add(running)
    const leave = (): boolean => among.delete(running)
    running.then(leave, leave)
    return running
  }
}
