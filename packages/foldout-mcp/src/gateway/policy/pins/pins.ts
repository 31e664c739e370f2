import { unwatchFile, watchFile } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import * as v from 'valibot'
import { ignore } from 'foldout/promises'
import { UsageError } from '../../config/config.ts'
import { isObject } from 'foldout-shared/values'
import type { ToolDefinition } from '../../model/snapshot.ts'
import { list, object, parse, custom, read, string } from '../../../shared/shapes.ts'
import { createFile, readJson, replaceFile, takeFile } from '../../../shared/files.ts'
import { hashJson, hashText } from '../../../shared/hash.ts'
import { StorageFailures } from '../../../shared/storage-failures.ts'
import { MAX_PIN_BYTES } from './limits.ts'

const FORMAT = 1

const pinSchema = object({
  format: v.literal(FORMAT),
  server: string,
  /** The hash of the whole set. */
  set: string,
  /** The hash of the set exactly as the server wrote it, which is faster to compare. */
  quick: v.optional(string),
  /** The hash of each definition, by the server's name for the tool. Not an object, because names can be anything. */
  tools: list(v.tuple([string, string])),
})
/** Kept exactly as it is, because its hash counts. */
const definition = custom<ToolDefinition>(
  (tool) => isObject(tool) && typeof tool['name'] === 'string',
  'an object with a name',
)
const definitionsSchema = object({
  format: v.literal(FORMAT),
  server: string,
  tools: list(definition),
})

type Definitions = v.InferOutput<typeof definitionsSchema>

/** The definitions of a server's tools that the user has accepted. */
export type Pin = v.InferOutput<typeof pinSchema>

/** A tool whose definition differs from the accepted one, or that is new. */
export interface Unapproved {
  readonly server: string
  readonly tool: string
  /** The accepted definition; undefined if the tool is new or the definition is no longer known. */
  readonly before: ToolDefinition | undefined
  readonly after: ToolDefinition
}

/** What to accept: everything, one server, or one tool. */
export interface ApproveChoice {
  readonly server?: string
  readonly tool?: string
}

/** The pins of all servers. Several gateways and commands may use them at once. */
export interface PinStore {
  /** @throws Error if there is a pin and it cannot be read. */
  read(server: string): Promise<Pin | undefined>
  /** Accepts a server's definitions when it is first seen. If another gateway was faster, its definitions count. */
  create(server: string, name: string, tools: readonly ToolDefinition[]): Promise<Pin>
  /** Stores the definitions that wait for the user, or that there are none. */
  note(server: string, name: string, tools: readonly ToolDefinition[]): Promise<void>
  /** The pins of all servers, by name. */
  list(): Promise<readonly Pin[]>
  /** The definitions that wait for the user. */
  listUnapproved(): Promise<readonly Unapproved[]>
  /** Accepts waiting definitions: of one tool, one server or all servers. Returns what was accepted. */
  approve(choice: ApproveChoice): Promise<readonly Unapproved[]>
  /** Calls a listener when a server's pin may have changed, such as after the user accepted something. Returns a function that stops it. */
  watch(server: string, listener: () => void): () => void
  /** Reports that pins cannot be read or written, once for each reason. */
  reportFailure(what: string, error: unknown): void
}

/** A pin and the definitions it was computed from. */
export interface PinContent {
  readonly pin: string
  readonly pinned: string
}

/** Where pins are kept: JSON texts for each server. */
export interface PinStorage {
  /**
   * The pin, the definitions that were accepted, or those that wait; undefined if there are none.
   *
   * @throws Error if it exists and cannot be read.
   */
  read(server: string, part: 'pin' | 'pinned' | 'seen'): Promise<unknown>
  /** Returns whether it is new; another process may have been first. */
  create(server: string, content: PinContent): Promise<boolean>
  /** Undefined removes it. */
  writeSeen(server: string, seen: string | undefined): Promise<void>
  /** Replaces a pin under a lock. */
  change(server: string, change: () => Promise<PinContent>): Promise<void>
  list(part: 'pin' | 'seen'): Promise<readonly string[]>
  watch(server: string, listener: () => void): () => void
}

export function createPins(storage: PinStorage, onProblem: (message: string) => void): PinStore {
  return new StoredPins(storage, onProblem)
}

class StoredPins implements PinStore {
  readonly #storage: PinStorage
  readonly #failures: StorageFailures

  constructor(storage: PinStorage, onProblem: (message: string) => void) {
    this.#storage = storage
    this.#failures = new StorageFailures(onProblem)
  }

  async read(id: string): Promise<Pin | undefined> {
    const found = await this.#storage.read(id, 'pin')
    if (found === undefined) return undefined
    return parse(pinSchema, found)
  }

  async create(id: string, server: string, tools: readonly ToolDefinition[]): Promise<Pin> {
    const mine = createPin(server, hashTools(tools), tools)
    const content = { pin: JSON.stringify(mine), pinned: formatDefinitions(server, tools) }
    const isFirst = await this.#storage.create(id, content)
    this.#failures.clear()
    return (isFirst ? undefined : await this.read(id)) ?? mine
  }

  async note(id: string, server: string, tools: readonly ToolDefinition[]): Promise<void> {
    await this.#storage.writeSeen(id, tools.length === 0 ? undefined : formatDefinitions(server, tools))
  }

  async list(): Promise<readonly Pin[]> {
    const ids = (await this.#storage.list('pin')).filter((id) => !id.endsWith(USERS))
    const pins = await Promise.all(ids.map((id) => ignore(this.read(id), DAMAGED)))
    return pins.filter((pin) => pin !== undefined).sort((one, other) => (one.server < other.server ? -1 : 1))
  }

  async listUnapproved(): Promise<readonly Unapproved[]> {
    return (await Promise.all((await this.#storage.list('seen')).map((id) => this.#findUnapproved(id)))).flat()
  }

  async approve({ server, tool }: ApproveChoice): Promise<readonly Unapproved[]> {
    const accepted: Unapproved[] = []
    for (const id of await this.#storage.list('seen')) {
      const wanted = (await this.#findUnapproved(id)).filter(
        (one) => (server === undefined || one.server === server) && (tool === undefined || one.tool === tool),
      )
      if (wanted.length === 0) continue
      await this.#accept(id, wanted)
      accepted.push(...wanted)
    }
    if (accepted.length > 0 || server === undefined) return accepted
    const what = tool === undefined ? `the server '${server}'` : `the tool '${tool}' of the server '${server}'`
    throw new UsageError(`Nothing of ${what} is waiting for your approval. Run foldout pins to see what is.`)
  }

  watch(id: string, listener: () => void): () => void {
    return this.#storage.watch(id, listener)
  }

  reportFailure(what: string, error: unknown): void {
    this.#failures.report(what, error)
  }

  async #findUnapproved(id: string): Promise<readonly Unapproved[]> {
    const seen = await this.#readDefinitions(id, 'seen')
    if (!seen) return []
    const pin = await ignore(this.read(id), DAMAGED)
    const hashes = new Map(pin?.tools)
    const shared = id.endsWith(USERS) ? await this.#readAccepted(id.slice(0, -USERS.length)) : []
    const accepted = new Map([...shared, ...(await this.#readAccepted(id))])
    return seen.tools.flatMap((after) => {
      const tool = after.name
      if (hashes.get(tool) === hashJson(after)) return []
      return [{ server: seen.server, tool, before: accepted.get(tool), after }]
    })
  }

  /** The accepted definitions by name, without those that someone else put there. */
  async #readAccepted(id: string): Promise<ReadonlyMap<string, ToolDefinition>> {
    const hashes = new Map((await ignore(this.read(id), DAMAGED))?.tools)
    const { tools = [] } = (await this.#readDefinitions(id, 'pinned')) ?? {}
    return new Map(tools.filter((tool) => hashes.get(tool.name) === hashJson(tool)).map((tool) => [tool.name, tool]))
  }

  /** Accepts definitions on top of those that are accepted already. */
  async #accept(id: string, accepted: readonly Unapproved[]): Promise<void> {
    await this.#storage.change(id, async () => {
      const pin = await ignore(this.read(id), DAMAGED)
      const known = await this.#readDefinitions(id, 'pinned')
      const server = pin?.server ?? accepted[0]?.server ?? ''
      const added = accepted.map(({ after }) => after)
      const tools = new Map([...(known?.tools ?? []), ...added].map((tool) => [tool.name, tool]))
      const hashes = new Map([...(pin?.tools ?? []), ...hashTools(added)])
      return {
        pinned: formatDefinitions(server, [...tools.values()]),
        pin: JSON.stringify(createPin(server, hashes)),
      }
    })
  }

  async #readDefinitions(id: string, part: 'pinned' | 'seen'): Promise<Definitions | undefined> {
    return read(definitionsSchema, await ignore(this.#storage.read(id, part), DAMAGED)).data
  }
}

const USERS = '-users'

/** Why an unreadable pin is ignored. */
const DAMAGED = 'what cannot be read is not accepted'

/** The id of the definitions that a server shows to single users. */
export function toUserPin(server: string): string {
  return `${server}${USERS}`
}

export function hashTools(tools: readonly ToolDefinition[]): ReadonlyMap<string, string> {
  return new Map(tools.map((tool) => [tool.name, hashJson(tool)]))
}

export function createPin(server: string, hashes: ReadonlyMap<string, string>, tools?: readonly ToolDefinition[]): Pin {
  const sorted = [...hashes].sort(([one], [other]) => (one < other ? -1 : 1))
  return {
    format: FORMAT,
    server,
    set: hashJson(sorted),
    ...(tools && { quick: hashText(JSON.stringify(tools)) }),
    tools: sorted,
  }
}

function formatDefinitions(server: string, tools: readonly ToolDefinition[]): string {
  return JSON.stringify({ format: FORMAT, server, tools })
}

const WATCH_MS = 1_000
const SUFFIXES = { pin: '.json', pinned: '.pinned', seen: '.seen' } as const

/** Keeps pins in a folder, with a few files per server. */
export function createPinFiles(folder: string, onProblem: (message: string) => void): PinStore {
  const getFile = (id: string, part: keyof typeof SUFFIXES): string => join(folder, `${id}${SUFFIXES[part]}`)
  const storage: PinStorage = {
    read: (id, part) => readJson(getFile(id, part), MAX_PIN_BYTES),
    async create(id, { pin, pinned }) {
      // Written first, so that the definitions are there as soon as the pin is.
      await createFile(getFile(id, 'pinned'), pinned)
      return createFile(getFile(id, 'pin'), pin)
    },
    async writeSeen(id, seen) {
      if (seen === undefined) await takeFile(getFile(id, 'seen'))
      else await replaceFile(getFile(id, 'seen'), seen)
    },
    async change(id, change) {
      // Most starts of a gateway change nothing.
      const { withLock } = await import('foldout/node')
      await withLock(`${getFile(id, 'pin')}.lock`, async () => {
        const { pin, pinned } = await change()
        await replaceFile(getFile(id, 'pinned'), pinned)
        await replaceFile(getFile(id, 'pin'), pin)
      })
    },
    async list(part) {
      const suffix = SUFFIXES[part]
      const names = await readdir(folder).catch(() => [])
      return names.filter((name) => name.endsWith(suffix)).map((name) => name.slice(0, -suffix.length))
    },
    watch(id, listener) {
      const file = getFile(id, 'pin')
      // A separate function each time, because several gateways in one process may watch the same file.
      const report = (): void => listener()
      watchFile(file, { interval: WATCH_MS, persistent: false }, report)
      return () => unwatchFile(file, report)
    },
  }
  return createPins(storage, onProblem)
}
