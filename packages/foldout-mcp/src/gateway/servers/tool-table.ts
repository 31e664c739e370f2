import pLimit from 'p-limit'
import type { RawTool } from 'foldout/catalog'
import type { ServerConfig } from '../config/config.ts'
import { toDefinition, type ToolDefinition } from '../model/snapshot.ts'
import type { ServerPins } from '../policy/pins/server-pins.ts'
import type { Secrets } from '../policy/secrets/secrets.ts'
import { hashJson } from '../../shared/hash.ts'
import { applyOverride, createCompletion } from './overrides.ts'
import type { Comparison, ServerTool } from './server-tool.ts'

export interface ToolTableOptions {
  readonly secrets: Pick<Secrets, 'hideIn'>
  readonly pins: Pick<ServerPins, 'isHeld' | 'holdsForUser'>
}

/** The tools of a server as clients see them: with the configuration's overrides, and without those that the pins hold. */
export class ToolTable {
  readonly #options: ToolTableOptions
  #config: Pick<ServerConfig, 'overrides' | 'maxResultBytes'> = { overrides: new Map(), maxResultBytes: Infinity }
  #tools: readonly ServerTool[] = []
  #held: readonly ServerTool[] = []
  #byName: ReadonlyMap<string, ServerTool> = new Map()
  // Each definition is read and hashed once, because every call compares two.
  readonly #read = new WeakMap<RawTool, ToolDefinition>()
  readonly #hashes = new WeakMap<ToolDefinition, string>()

  constructor(options: ToolTableOptions) {
    this.#options = options
  }

  get tools(): readonly ServerTool[] {
    return this.#tools
  }

  /** The tools that are not shown until the user accepts their definitions. */
  listHeld(): readonly ServerTool[] {
    return this.#held
  }

  /** Replaces all tools. */
  fill(definitions: readonly ToolDefinition[], config: Pick<ServerConfig, 'overrides' | 'maxResultBytes'>): void {
    this.#config = config
    const all = definitions.flatMap((definition) => this.#toTool(definition) ?? [])
    const isHeld = ({ definition }: ServerTool): boolean => this.#options.pins.isHeld(definition.name)
    this.#tools = all.filter((tool) => !isHeld(tool))
    this.#held = all.filter(isHeld)
    // The first tool with a name counts, and a held one only if no other has its name.
    this.#byName = new Map([...this.#tools, ...this.#held].toReversed().map((tool) => [tool.shown.name, tool]))
  }

  /** The hash of a tool's definition and its overrides; undefined if there is no such tool. */
  hash(tool: string): string | undefined {
    const definition = this.#byName.get(tool)?.definition
    return definition && hashJson([definition, this.#config.overrides.get(definition.name) ?? {}])
  }

  /** Compares a tool as it was listed with the one of the running server. */
  compare({ definition }: ServerTool, running: RawTool): Comparison {
    const { pins } = this.#options
    const now = this.#toDefinition(running)
    if (pins.isHeld(now.name)) return { isHeld: true, changed: undefined }
    if (this.#hash(definition) === this.#hash(now)) return { isHeld: false, changed: undefined }
    if (pins.holdsForUser(now.name, this.#hash(now))) return { isHeld: true, changed: undefined }
    return { isHeld: false, changed: applyOverride(now, this.#config.overrides.get(now.name)) ?? now }
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

  #toTool(definition: ToolDefinition): ServerTool | undefined {
    const override = this.#config.overrides.get(definition.name)
    const shown = applyOverride(definition, override)
    if (!shown) return undefined
    const { timeoutSeconds, maxConcurrent, maxResultBytes } = override ?? {}
    return {
      definition,
      shown,
      complete: createCompletion(override),
      limits: {
        timeoutMs: timeoutSeconds === undefined ? undefined : timeoutSeconds * 1_000,
        turns: maxConcurrent === undefined ? undefined : pLimit(maxConcurrent),
        maxResultBytes: maxResultBytes ?? this.#config.maxResultBytes,
      },
    }
  }
}
