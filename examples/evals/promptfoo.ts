// promptfoo: `evaluate({ providers: [createProvider('folded', arm)], prompts: ['{{input}}'], tests: cases.map(toTest) })`.
import { runArm, type CompareArm, type CompareCase, type ArmRunOptions } from 'foldout/compare'

/** A case as a test. Its grades are among the test's assertions, which may have others. */
export const toTest = (task: CompareCase) => ({
  description: task.id,
  vars: { input: task.input ?? '' },
  metadata: { task },
  assert: [{ type: 'javascript' as const, value: 'context.providerResponse.metadata.score', threshold: 1 }],
})

interface CallContext {
  readonly test?: { readonly metadata?: { readonly task?: CompareCase } }
}

/** Runs an arm as a provider. Assertions find its calls, openings and grades in the metadata of the response. */
export const createProvider = (name: string, arm: CompareArm, options: ArmRunOptions = {}) => ({
  id: () => `foldout:${name}`,
  async callApi(
    input: string,
    { test }: CallContext = {},
    { abortSignal: signal }: { abortSignal?: AbortSignal } = {},
  ) {
    const run = await runArm(arm, test?.metadata?.task ?? { id: 'case', input }, {
      ...options,
      ...(signal && { signal }),
    })
    const { text, error, usage, grades, score, calls, opened, ahead, missed, costUsd } = run
    if (error !== null) return { error }
    const { inputTokens: prompt, outputTokens: completion, cachedInputTokens: cached } = usage
    return {
      output: text,
      tokenUsage: { prompt, completion, cached, total: prompt + completion, numRequests: run.requests.length },
      ...(costUsd !== null && { cost: costUsd }),
      metadata: { grades, score, calls, opened, ahead, missed },
    }
  },
})
