// vitest-evals: `describeEval('The desk', { harness: createHarness(runsArm('folded', arm)), judges: [...] }, ...)`.
import { runArm, type CompareArm, type CompareCase, type ArmRunOptions } from 'foldout/compare'

/** Arguments are JSON: their values fit any type of JSON. */
type JsonObject = Record<string, never>
const FAILED = { error: { message: 'It failed.' } }

/** What `createHarness` needs to run an arm on a case. Judges find its openings and grades among the artifacts. */
export const runsArm = (name: string, arm: CompareArm, options: ArmRunOptions = {}) => ({
  name,
  async run({ input: task, signal }: { readonly input: CompareCase; readonly signal?: AbortSignal }) {
    const run = await runArm(arm, task, { ...options, ...(signal && { signal }) })
    if (run.error !== null) throw new Error(run.error)
    const { text, calls, usage, grades, opened, ahead, missed, costUsd } = run
    return {
      output: text,
      events: [
        { type: 'message' as const, role: 'user' as const, content: task.input ?? '' },
        ...calls.flatMap(({ name: tool, arguments: args, ok }, i) => [
          {
            type: 'tool_call' as const,
            id: `call-${i}`,
            name: tool,
            arguments: args as JsonObject,
          },
          { type: 'tool_result' as const, toolCallId: `call-${i}`, name: tool, ...(!ok && FAILED) },
        ]),
        { type: 'message' as const, role: 'assistant' as const, content: text },
      ],
      usage: { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens, toolCalls: calls.length },
      artifacts: { openings: { opened, ahead, missed }, grades, costUsd },
    }
  },
})
