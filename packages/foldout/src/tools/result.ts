import type { CallResult } from './call-result.ts'
import type { AnyTool } from './tool.ts'

/**
 * The result of a tool call. The model reads `message`; programs read `value`.
 *
 * @example
 * ```ts
 * const result: ToolResult = await executeTool(sendMail, { to: 'ada@example.com' }, context)
 * result.ok && result.message // => 'Sent to ada@example.com.'
 * ```
 */
export type ToolResult<Value = unknown> = ToolSuccess<Value> | ToolFailure

/**
 * A successful tool call. Create it with {@link ok}.
 *
 * @example
 * ```ts
 * const success: ToolSuccess<{ readonly id: number }> = ok('Sent to Ada.', { id: 7 })
 * success.value.id // => 7
 * ```
 */
export interface ToolSuccess<Value = unknown> {
  readonly ok: true
  readonly message: string
  readonly value: Value
  /** Images for the model, if its provider accepts images in tool results. */
  readonly images?: readonly ToolImage[]
  /**
   * The sections and tools that the call opens. Only disclosure tools restart a run for an opening. If tools cannot be
   * added to a conversation, the openings of other tools are skipped, because the model has another way to reach those
   * tools.
   */
  readonly opening?: Opening
  /** The whole answer in the MCP format, if it has more than text and images. Catalogs and MCP clients get it unchanged. */
  readonly answer?: CallResult
}

/**
 * An image in the result of a tool.
 *
 * @example
 * ```ts
 * const images: ToolImage[] = [{ mimeType: 'image/png', data: 'iVBORw0KGgo=' }]
 * const result: ToolResult = { ...ok('The front door:'), images }
 * ```
 */
export interface ToolImage {
  readonly mimeType: string
  /** The image data in Base64. */
  readonly data: string
}

/**
 * A failed tool call. Create it with {@link fail}.
 *
 * @example
 * ```ts
 * const failure: ToolFailure = fail('There is no order 17. Ask for the number on the receipt.')
 * failure.ok // => false
 * ```
 */
export interface ToolFailure {
  readonly ok: false
  readonly message: string
  /** The whole answer in the MCP format, if it has more than text. */
  readonly answer?: CallResult
}

/**
 * A valid request of the model to open sections, not yet applied.
 *
 * @example
 * ```ts
 * const answer = answerInPlace(view, planOpening(view, ['refunds'], 'The customer wants a refund.'))
 * const opening: Opening | undefined = answer.ok ? answer.opening : undefined
 * opening?.tools.map(({ name }) => name) // => [ 'refund_order' ]
 * ```
 */
export interface Opening {
  /** The keys exactly as the model wrote them. */
  readonly keys: readonly string[]
  readonly reason: string
  /** The paths of all sections that the opening opens, ancestors first. */
  readonly paths: readonly string[]
  /** The tools that the opening adds. */
  readonly tools: readonly AnyTool[]
  /** Whether the run must restart with a re-rendered prompt, because the result does not contain the sections' text. */
  readonly halts: boolean
}

/**
 * Creates a successful result. Leave out `value` if the message is enough.
 *
 * @example
 * ```ts
 * const result = ok('Sent to Ada.', { id: 7 })
 * ```
 */
export function ok<Value = undefined>(message: string, value?: Value): ToolSuccess<Value> {
  return { ok: true, message, value: value as Value }
}

/**
 * Creates a failed result that the model can read and act on. It never ends a run.
 *
 * @example
 * ```ts
 * const result = fail("There is no user 'bob'. Look up the name with find_user first.")
 * ```
 */
export function fail(message: string): ToolFailure {
  return { ok: false, message }
}
