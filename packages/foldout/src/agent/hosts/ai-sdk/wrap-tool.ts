import type { ToolSet } from 'ai'
import { toSdkSchema, type loadAi } from '../../../adapters/ai-sdk/package.ts'
import { toToolParameters } from '../../../adapters/tool-schemas.ts'
import { FoldoutError } from '../../../core/errors.ts'
import { describeOpened } from '../../../disclosure/opening.ts'
import { executeTool } from '../../../tools/execute.ts'
import type { ToolSuccess } from '../../../tools/result.ts'
import type { AnyTool, ToolContext } from '../../../tools/tool.ts'

export interface WrapperOptions {
  /** Whether the output of a tool is what the model reads. */
  readonly showText: (name: string) => boolean
  readonly getContext: () => Omit<ToolContext, 'signal'>
  readonly onSuccess: (result: ToolSuccess) => void
}

/** Makes tools of the AI SDK of ours. */
export function createToolWrapper(
  ai: Awaited<ReturnType<typeof loadAi>>,
  { showText, getContext, onSuccess }: WrapperOptions,
): (tool: AnyTool) => ToolSet[string] {
  const runInTurn = createTurnstile()
  /** What the model reads where the output says less, by call. */
  const texts = new Map<string, string>()
  return (tool) =>
    ai.dynamicTool({
      description: tool.description,
      inputSchema: toSdkSchema(ai, toToolParameters(tool.inputSchema, 'openai')),
      async execute(input, { abortSignal, toolCallId }) {
        const signal = abortSignal ?? new AbortController().signal
        const result = await runInTurn(tool, () => executeTool(tool, input, { ...getContext(), signal }))
        // Thrown, so that the SDK marks the result as an error; the model reads the message as it is.
        if (!result.ok) throw new FoldoutError('tool-failed', result.message)
        onSuccess(result)
        if (showText(tool.name)) return result.message
        texts.set(toolCallId, result.message)
        return describeOutput(result)
      },
      // A call of an earlier request is not known here: its section is in the system text by now, as the notice says.
      toModelOutput: ({ toolCallId, output }) => ({ type: 'text', value: texts.get(toolCallId) ?? String(output) }),
    })
}

/** What people see of a disclosure call: which sections it opened, and nothing of what they say. */
function describeOutput({ opening }: ToolSuccess): string {
  return opening ? describeOpened({ keys: opening.keys, tools: opening.tools.length > 0 }) : 'Nothing new was opened.'
}

/** Lets calls run side by side, but an exclusive one only when no other runs. */
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
