import type { PromptMessage } from './prompt.ts'

/**
 * What Mastra passes to `processInputStep`, as far as it is used.
 *
 * @example
 * ```ts
 * const count = ({ messages }: MastraStep): number => messages.length
 * ```
 */
export interface MastraStep {
  readonly messages: readonly unknown[]
  readonly systemMessages: readonly unknown[]
  readonly tools?: Readonly<Record<string, unknown>>
  readonly stepNumber: number
  readonly state: Record<string, unknown>
  readonly requestContext?: unknown
}

/**
 * What Mastra passes to `processLLMRequest`, as far as it is used.
 *
 * @example
 * ```ts
 * const count = ({ prompt }: MastraRequest): number => prompt.length
 * ```
 */
export interface MastraRequest {
  readonly prompt: readonly PromptMessage[]
  readonly state: Record<string, unknown>
}

/**
 * What Mastra passes to `processLLMResponse`, as far as it is used.
 *
 * @example
 * ```ts
 * const getTypes = ({ chunks }: MastraResponse): readonly string[] => chunks.map(({ type }) => type)
 * ```
 */
export interface MastraResponse {
  readonly chunks: readonly { readonly type: string; readonly payload: unknown }[]
}
