import type { CallContext, CallResult, RawTool } from 'foldout/catalog'
import type { JsonObject } from 'foldout-shared/values'
import type { ToolDefinition } from '../model/snapshot.ts'
import type { ToolCall } from '../upstreams/upstream-options.ts'

/** A tool of a server, with what the configuration says about it. */
export interface ServerTool {
  /** As the server defines it. */
  readonly definition: ToolDefinition
  /** As clients see it: under its own name or another, perhaps with other words and fewer parameters. */
  readonly shown: ToolDefinition
  /** Adds the arguments that the configuration fixes, or gives by default. */
  complete(args: JsonObject): JsonObject
  readonly limits: CallLimits
}

/** The limits of one tool, as configured. */
export interface CallLimits {
  readonly timeoutMs: number | undefined
  /** Runs the calls of the tool, so many at a time. */
  readonly turns: Turns | undefined
  readonly maxResultBytes: number
}

/** Runs work in turns. */
export interface Turns {
  <Result>(work: () => Promise<Result>): Promise<Result>
  /** How many wait for a turn. */
  readonly pendingCount: number
}

/** The server of a call. */
export interface CalledServer {
  readonly name: string
  readonly known: {
    /** The hash of a tool's definition and its overrides at this moment; undefined if the tool is gone. */
    hashTool(tool: string): string | undefined
    /** Compares a tool as it was listed with the one of the running server. */
    compare(listed: ServerTool, running: RawTool): Comparison
  }
  /** Sends a call, and starts the server if necessary. */
  send(call: ToolCall, context: CallContext): Promise<CallResult>
}

/** How a tool of the running server differs from the one that was listed. */
export interface Comparison {
  /** Whether it must not be called until the user accepts its definition. */
  readonly isHeld: boolean
  /** The tool as clients would see it now, if it is defined differently. */
  readonly changed: ToolDefinitionNow | undefined
}

/** What the rules look at. */
export type ToolDefinitionNow = Pick<RawTool, 'annotations'>
