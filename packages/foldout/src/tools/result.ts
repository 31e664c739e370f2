import type { CallResult } from './call-result.ts'
import type { AnyTool } from './tool.ts'

/** What a tool answers. `message` is what the model reads; `value` is for programs. */
export type ToolResult<Value = unknown> = ToolSuccess<Value> | ToolFailure

export interface ToolSuccess<Value = unknown> {
  readonly ok: true
  readonly message: string
  readonly value: Value
  /** Pictures that the model sees beside the message, where its provider takes them in a tool's result. */
  readonly images?: readonly ToolImage[]
  /**
   * What the call opens. Only disclosure tools restart a run for it; what other tools open is left out where tools cannot be
   * added to a conversation, because the model has another way to them.
   */
  readonly opening?: Opening
  /** The whole answer as MCP has it, where it is more than text and pictures. Catalogs and MCP clients get it unchanged. */
  readonly answer?: CallResult
}

export interface ToolImage {
  readonly mimeType: string
  /** Base64. */
  readonly data: string
}

export interface ToolFailure {
  readonly ok: false
  readonly message: string
  /** The whole answer as MCP has it, where it is more than text. */
  readonly answer?: CallResult
}

/** What a model has asked to see, found to be in order, and not yet applied. */
export interface Opening {
  /** The keys as the model gave them. */
  readonly keys: readonly string[]
  readonly reason: string
  /** Every section that becomes full, ancestors before what lies in them. */
  readonly paths: readonly string[]
  /** The tools that the opening adds to those offered so far. */
  readonly tools: readonly AnyTool[]
  /** Whether the prompt must be re-rendered, whatever the adapter can do: the result does not hold the text. */
  readonly halts: boolean
}

/** A success. `value` may be left out where the message says it all. */
export function ok<Value = undefined>(message: string, value?: Value): ToolSuccess<Value> {
  return { ok: true, message, value: value as Value }
}

/** A failure the model can read and act on. It never ends a run. */
export function fail(message: string): ToolFailure {
  return { ok: false, message }
}
