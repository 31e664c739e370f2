import { deferPattern } from '../core/defer-pattern.ts'
import { sha256Hex } from '../core/hash.ts'

/** The names of the tools that exposures and the gateway add. Models never see a tool of a catalog under one of them. */
export const META_TOOL_NAMES = Object.freeze([
  'search_tools',
  'use_tool',
  'get_tool_definition',
  'discover_and_use_tool',
  'look_up_tools',
  'run_code',
  'read_section',
  'open_sections',
  'read_result',
] as const)

const RESERVED: ReadonlySet<string> = new Set(META_TOOL_NAMES)
const MAX_LENGTH = 64

/** Whether a name belongs to a meta tool, even if this exposure does not have it. */
export function isMetaToolName(name: string): boolean {
  return RESERVED.has(name)
}

const HASH_LENGTH = 8

/** Gets the name of a tool that depends only on the tool. */
export function getQualifiedName(source: string | undefined, declared: string): string {
  // Escaped as in a JSON Pointer, so the last slash follows the source and no two tools share a name.
  const plain = declared.replaceAll('~', '~0').replaceAll('/', '~1')
  if (source !== undefined) return `${source}/${plain}`
  // Nothing but a meta tool is called by the name of one.
  if (isMetaToolName(plain)) return `/${plain}`
  return plain
}

/**
 * Returns every name under which models may see a tool. Which one it is depends on the other tools of the catalog. Use
 * it to recognize a tool in a rule or a filter.
 *
 * @example
 * listModelNames('files', 'delete.all') // => [ 'delete_all', 'files__delete_all', 'files__delete_all__119c0643' ]
 */
export function listModelNames(source: string | undefined, declared: string): readonly string[] {
  const named = nameTool(source, declared)
  return [named.short, named.long, addHash(named)]
}

interface Named {
  readonly qualified: string
  readonly short: string
  readonly long: string
}

/**
 * The names that models see. A name is short if that is unique, and otherwise starts with the source. If that is too long or
 * taken, it ends in a hash. Names depend on the set of tools, not on the order in which they were added.
 */
export interface NameTable {
  /** Adds a tool, and returns the qualified names of the tools whose name may have changed, including the new one. */
  add(source: string | undefined, declared: string): readonly string[]
  /** Removes a tool, and returns the qualified names of the tools whose name may have changed. */
  remove(qualified: string): readonly string[]
  getName(qualified: string): string
}

export function createNameTable(): NameTable {
  const tools = new Map<string, Named>()
  const byShort = new NameGroups()
  const byLong = new NameGroups()
  return {
    add(source, declared) {
      const named = nameTool(source, declared)
      const { qualified, short, long } = named
      tools.set(qualified, named)
      const sharingShort = byShort.add(short, qualified)
      const sharingLong = byLong.add(long, qualified)
      // Most names are unique, and catalogs are large.
      if (sharingShort !== 2 && sharingLong !== 2 && byLong.count(short) === 0) return [qualified]
      return [
        // Only the second tool with a name takes it from the first; with more of them, no tool had it anymore.
        ...(sharingShort === 2 ? byShort.getMembers(short) : [qualified]),
        ...(sharingLong === 2 ? byLong.getMembers(long) : []),
        ...(sharingShort === 1 ? byLong.getMembers(short) : []),
      ]
    },
    remove(qualified) {
      const named = tools.get(qualified)
      if (!named) return []
      const { short, long } = named
      tools.delete(qualified)
      const sharingShort = byShort.remove(short, qualified)
      const sharingLong = byLong.remove(long, qualified)
      return [
        ...(sharingShort === 1 ? byShort.getMembers(short) : []),
        ...(sharingLong === 1 ? byLong.getMembers(long) : []),
        ...(sharingShort === 0 ? byLong.getMembers(short) : []),
      ]
    },
    getName(qualified) {
      const named = tools.get(qualified)
      if (!named) return qualified
      const { short, long } = named
      if (byShort.count(short) === 1 && fits(short)) return short
      if (byLong.count(long) === 1 && byShort.count(long) === 0 && fits(long)) return long
      return addHash(named)
    },
  }
}

function nameTool(source: string | undefined, declared: string): Named {
  const short = toSafeName(declared)
  const long = `${source === undefined ? 'tool' : toSafeName(source)}__${short}`
  return { qualified: getQualifiedName(source, declared), short, long }
}

function addHash(named: Named): string {
  return `${shortenLong(named)}__${hash(named.qualified)}`
}

/** The beginning of a name with a hash. What a tool does says more than where it comes from. */
function shortenLong({ short, long }: Named): string {
  const room = MAX_LENGTH - HASH_LENGTH - 2
  if (long.length <= room) return long
  const roomBefore = room - short.length - 2
  if (roomBefore < 1) return short.slice(0, room)
  return `${long.slice(0, roomBefore)}__${short}`
}

/** The end of a name with a hash. No other name may end like this, so the two kinds cannot be confused. */
const HASHED = /__[0-9a-f]{8}$/

function fits(name: string): boolean {
  return name.length <= MAX_LENGTH && !RESERVED.has(name) && !HASHED.test(name)
}

const getMarks = deferPattern(String.raw`\p{Mark}+`, 'gu')
const getOtherScript = deferPattern(String.raw`[^\p{ASCII}]`, 'u')

/** Reduces a name to letters, digits, underscores and hyphens, which every provider accepts. */
function toSafeName(name: string): string {
  if (/^[a-zA-Z0-9_-]+$/.test(name)) return name
  const plain = name.normalize('NFKD').replaceAll(getMarks(), '')
  const safe = plain.replaceAll(/[^a-zA-Z0-9_-]+/g, '_').replaceAll(/^_+|_+$/g, '')
  // A name in another script would lose everything that distinguishes it.
  const isLost = safe === '' || getOtherScript().test(plain)
  if (isLost) return `${safe || 'tool'}_${hash(name)}`
  return safe
}

function hash(identity: string): string {
  return sha256Hex(identity).slice(0, HASH_LENGTH)
}

/** Qualified names by a name that they may share. Most names have one tool, so only the others get a set. */
class NameGroups {
  readonly #groups = new Map<string, string | Set<string>>()

  count(name: string): number {
    const group = this.#groups.get(name)
    if (group === undefined) return 0
    if (typeof group === 'string') return 1
    return group.size
  }

  getMembers(name: string): readonly string[] {
    const group = this.#groups.get(name)
    if (group === undefined) return []
    if (typeof group === 'string') return [group]
    return [...group]
  }

  /** Adds a tool, and returns how many share the name now. */
  add(name: string, qualified: string): number {
    const group = this.#groups.get(name)
    if (group === undefined) this.#groups.set(name, qualified)
    else if (typeof group === 'string') this.#groups.set(name, new Set([group, qualified]))
    else group.add(qualified)
    return this.count(name)
  }

  /** Removes a tool, and returns how many share the name now. */
  remove(name: string, qualified: string): number {
    const group = this.#groups.get(name)
    if (group === qualified) this.#groups.delete(name)
    else if (group instanceof Set && group.delete(qualified) && group.size === 0) this.#groups.delete(name)
    return this.count(name)
  }
}
