import { sha256Hex } from '../core/hash.ts'

/** Names that exposures give to tools of their own. A tool of a catalog is never seen under one of them. */
export const META_TOOL_NAMES = Object.freeze([
  'search_tools',
  'use_tool',
  'get_tool_definition',
  'discover_and_use_tool',
  'look_up_tools',
  'run_code',
  'read_section',
  'open_sections',
] as const)

const RESERVED: ReadonlySet<string> = new Set(META_TOOL_NAMES)
const MAX_LENGTH = 64
const HASH_LENGTH = 8

/** The one name of a tool that depends on nothing but the tool. */
export function qualifiedName(source: string | undefined, declared: string): string {
  // As in a JSON Pointer, so that the last slash is the one behind the source and no two tools share a name.
  const plain = declared.replaceAll('~', '~0').replaceAll('/', '~1')
  return source === undefined ? plain : `${source}/${plain}`
}

interface Named {
  readonly qualified: string
  readonly short: string
  readonly long: string
}

/**
 * The names under which models see tools: short where that is unique, else with the source before it, and in the few cases in
 * which that is too long or taken, with a hash. They depend on the set of tools and not on the order in which they came.
 */
export interface NameTable {
  /** Takes a tool in. Gives back the qualified names of the tools whose name may be another now, itself included. */
  add(source: string | undefined, declared: string): readonly string[]
  remove(qualified: string): readonly string[]
  getName(qualified: string): string
}

export function createNameTable(): NameTable {
  const tools = new Map<string, Named>()
  const byShort = new Map<string, Set<string>>()
  const byLong = new Map<string, Set<string>>()
  const count = (groups: typeof byShort, name: string): number => groups.get(name)?.size ?? 0
  return {
    add(source, declared) {
      const qualified = qualifiedName(source, declared)
      const short = safeName(declared)
      const long = `${source === undefined ? 'tool' : safeName(source)}__${short}`
      tools.set(qualified, { qualified, short, long })
      put(byShort, short, qualified)
      put(byLong, long, qualified)
      const touched = new Set([qualified])
      // Only the second of a name takes it from the first: with more of them nobody had it any more.
      if (count(byShort, short) === 2) addAll(touched, byShort.get(short))
      if (count(byLong, long) === 2) addAll(touched, byLong.get(long))
      if (count(byShort, short) === 1) addAll(touched, byLong.get(short))
      return [...touched]
    },
    remove(qualified) {
      const named = tools.get(qualified)
      if (!named) return []
      const { short, long } = named
      tools.delete(qualified)
      take(byShort, short, qualified)
      take(byLong, long, qualified)
      const touched = new Set<string>()
      if (count(byShort, short) === 1) addAll(touched, byShort.get(short))
      if (count(byLong, long) === 1) addAll(touched, byLong.get(long))
      if (count(byShort, short) === 0) addAll(touched, byLong.get(short))
      return [...touched]
    },
    getName(qualified) {
      const { short, long } = tools.get(qualified)!
      if (count(byShort, short) === 1 && fits(short)) return short
      if (count(byLong, long) === 1 && !byShort.has(long) && fits(long)) return long
      const room = MAX_LENGTH - HASH_LENGTH - 2
      // What the tool does says more than where it is from.
      const roomBefore = room - short.length - 2
      const start =
        long.length <= room ? long : roomBefore < 1 ? short.slice(0, room) : `${long.slice(0, roomBefore)}__${short}`
      return `${start}__${hash(qualified)}`
    },
  }
}

/** What the names with a hash end in, and no others, so that none can be taken for one of them. */
const HASHED = /__[0-9a-f]{8}$/

function fits(name: string): boolean {
  return name.length <= MAX_LENGTH && !RESERVED.has(name) && !HASHED.test(name)
}

/** Letters, digits, underscores and hyphens, which is what every provider takes. */
function safeName(name: string): string {
  if (/^[a-zA-Z0-9_-]+$/.test(name)) return name
  const plain = name.normalize('NFKD').replaceAll(/\p{Mark}+/gu, '')
  const safe = plain.replaceAll(/[^a-zA-Z0-9_-]+/g, '_').replaceAll(/^_+|_+$/g, '')
  // A name in another script would lose all that tells it from its neighbours.
  const isLost = safe === '' || /[^\p{ASCII}]/u.test(plain)
  return isLost ? `${safe || 'tool'}_${hash(name)}` : safe
}

function hash(identity: string): string {
  return sha256Hex(identity).slice(0, HASH_LENGTH)
}

function addAll(to: Set<string>, members: ReadonlySet<string> | undefined): void {
  for (const member of members ?? []) to.add(member)
}

function put(groups: Map<string, Set<string>>, key: string, member: string): void {
  const group = groups.get(key)
  if (group) group.add(member)
  else groups.set(key, new Set([member]))
}

function take(groups: Map<string, Set<string>>, key: string, member: string): void {
  const group = groups.get(key)
  group?.delete(member)
  if (group?.size === 0) groups.delete(key)
}
