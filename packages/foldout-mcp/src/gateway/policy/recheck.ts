import type { CallContext, RawTool } from 'foldout/catalog'
import type { ServerToolOverride } from '../config/definition.ts'
import { applyOverride } from '../upstreams/overrides.ts'
import { toDefinition, type ToolDefinition } from '../upstreams/snapshot.ts'
import { hashJson } from './hash.ts'
import type { ServerPins } from './pins/server-pins.ts'
import type { Secrets } from './secrets/secrets.ts'

/**
 * Decides about a call once more, because the server that was started for it defines the tool differently from what was decided on.
 * Returns why the call must not be sent.
 */
export type Recheck = (tool: Pick<RawTool, 'annotations'>) => string | undefined

const RECHECK: unique symbol = Symbol('foldout/recheck')

/** A context whose call is decided about once more if its tool turns out to be defined differently. */
export function withRecheck(context: CallContext, recheck: Recheck): CallContext {
  // The function comes first: an object that gets one after it was copied has a hidden class of its own, which stays in memory.
  return { [RECHECK]: recheck, ...context } as CallContext
}

function getRecheck(context: CallContext): Recheck | undefined {
  return (context as { readonly [RECHECK]?: Recheck })[RECHECK]
}

export interface CallChecksOptions {
  readonly secrets: Pick<Secrets, 'hideIn'>
  readonly pins: Pick<ServerPins, 'isHeld' | 'holdsForUser'>
  getOverride(tool: string): ServerToolOverride | undefined
}

/**
 * Checks calls right before they are sent. What was decided on may have come from the cache, and the server may define the tool
 * differently when it starts.
 */
export class CallChecks {
  readonly #options: CallChecksOptions
  /** Each definition is read and hashed once, because every call compares two. */
  readonly #read = new WeakMap<RawTool, ToolDefinition>()
  readonly #hashes = new WeakMap<ToolDefinition, string>()

  constructor(options: CallChecksOptions) {
    this.#options = options
  }

  /** Says why a call must not be sent, given the definition that was decided on and the one of the running server. */
  check(decided: ToolDefinition, running: RawTool, context: CallContext): string | undefined {
    const { pins, getOverride } = this.#options
    const now = this.#toDefinition(running)
    if (pins.isHeld(now.name)) return HELD
    if (this.#hash(decided) === this.#hash(now)) return undefined
    if (pins.holdsForUser(now.name, this.#hash(now))) return HELD
    return getRecheck(context)?.(applyOverride(now, getOverride(now.name)) ?? now)
  }

  /** Without secrets, like every definition that is kept. */
  #toDefinition(tool: RawTool): ToolDefinition {
    const definition = this.#read.get(tool) ?? this.#options.secrets.hideIn(toDefinition(tool))
    this.#read.set(tool, definition)
    return definition
  }

  #hash(definition: ToolDefinition): string {
    const hash = this.#hashes.get(definition) ?? hashJson(definition)
    this.#hashes.set(definition, hash)
    return hash
  }
}

const HELD = `its definition has changed, and waits for the user's approval. Ask the user to run "foldout pins".`
