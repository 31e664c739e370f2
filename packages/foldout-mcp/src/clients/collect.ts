import { realpath } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import type { ServerDefinition } from '../gateway/config/definition.ts'
import type { CheckText } from '../gateway/config/read-config.ts'
import { dropUndefined } from 'foldout-shared/values'
import type { ClientDescription, Scope } from './client.ts'
import { type DocumentFormat, type Path } from './documents/format.ts'
import { getEntries, listNameless, loadFormat } from './documents/document.ts'
import { stripShell } from '../system/programs.ts'
import { getOrigin, isFoldout, omitEmpty, readEntry } from './entries.ts'
import { FileError, findFile } from './files.ts'
import { fillProject, listFiles, type Whereabouts } from './places.ts'
import { MOST_COMPARED_SERVERS } from './limits.ts'
import { readSwitches, type FindSwitch } from './switched-off.ts'

/** Where a server was found. */
export interface Source {
  readonly client: string
  readonly file: string
  /** Its name there. */
  readonly name: string
}

export interface FoundServer {
  readonly source: Source
  /** Whose file it comes from: the user's, or a project's. What a project says is never mixed with what is the user's. */
  readonly scope: Scope
  readonly definition: ServerDefinition
  readonly notes: readonly string[]
  /** Where the user has switched it off, if not in its entry. */
  readonly offIn?: string
}

/** Everything that was found in the files of clients. */
export interface Found {
  readonly servers: readonly FoundServer[]
  /** Entries that are not imported. */
  readonly skipped: readonly { readonly source: Source; readonly reason: string }[]
  /** Files that cannot be read. */
  readonly problems: readonly { readonly client: string; readonly file: string; readonly message: string }[]
}

/** Reads the servers of all given clients. A file that several clients share is read once. Files of a project are checked first. */
export async function collectServers(
  clients: readonly ClientDescription[],
  scopes: readonly Scope[],
  where: Whereabouts,
  check?: CheckText,
): Promise<Found> {
  const seen = new Set<string>()
  const found: Found[] = []
  for (const client of clients) {
    const findSwitch = await readSwitches(client, scopes, where, check)
    for (const scope of scopes) {
      for (const file of listFiles(client, scope, where)) {
        const real = await realpath(file).catch(() => file)
        if (seen.has(real)) continue
        seen.add(real)
        found.push(await readClientFile(client, { file, scope, scopes, where, findSwitch, check }))
      }
    }
  }
  return {
    servers: found.flatMap(({ servers }) => servers),
    skipped: found.flatMap(({ skipped }) => skipped),
    problems: found.flatMap(({ problems }) => problems),
  }
}

async function readClientFile(client: ClientDescription, reading: Reading): Promise<Found> {
  const { file, scope, check } = reading
  try {
    const { text = '' } = await findFile(file)
    const root = (await loadFormat(getFormat(client, file))).parse(text)
    const found = readServers(client, root, reading)
    if (scope === 'project' && found.servers.length > 0) await check?.(file, text)
    return found
  } catch (error) {
    const message = error instanceof FileError ? `it ${error.reason}` : (error as Error).message
    return { servers: [], skipped: [], problems: [{ client: client.name, file, message }] }
  }
}

/** Continue reads the files of other clients unchanged. */
function getFormat({ format }: ClientDescription, file: string): DocumentFormat {
  if (/\.jsonc?$/.test(file)) return 'json'
  return format
}

interface Reading {
  readonly file: string
  readonly scope: Scope
  /** The scopes that the user wants. A file of the user may also have servers of a project. */
  readonly scopes: readonly Scope[]
  readonly where: Whereabouts
  readonly findSwitch: FindSwitch
  readonly check: CheckText | undefined
}

function readServers(client: ClientDescription, root: unknown, reading: Reading): Found {
  const { file, scope, scopes, where, findSwitch } = reading
  const found: { servers: FoundServer[]; skipped: Found['skipped'][number][] } = { servers: [], skipped: [] }
  const others = scopes.includes('project') ? listProjectEntries(client, root, where) : []
  const entries = [
    ...listEntries(client, root).map((entry) => [...entry, scope] as const),
    ...others.map((entry) => [...entry, 'project'] as const),
  ]
  for (const [name, entry, own] of entries) {
    const source = { client: client.name, file, name }
    const read = readEntry(entry, getOrigin(root, { client, scope: own, where }))
    if ('reason' in read) found.skipped.push({ source, reason: read.reason })
    else if (isFoldout(read.definition)) found.skipped.push({ source, reason: 'it is Foldout itself' })
    else found.servers.push({ source, scope, ...switchOff(read, findSwitch(name, scope)) })
  }
  for (const { path, isList = false } of client.maps)
    for (const place of isList ? listNameless(root, path) : [])
      found.skipped.push({ source: { client: client.name, file, name: `Entry ${place}` }, reason: 'it has no name' })
  return { ...found, problems: [] }
}

/** A server that the user has switched off elsewhere is disabled, and comes with the place. */
export function switchOff<Read extends { readonly definition: ServerDefinition }>(
  read: Read,
  offIn: string | undefined,
): Read & Pick<FoundServer, 'offIn'> {
  if (offIn === undefined) return read
  return { ...read, definition: { ...read.definition, disabled: true }, offIn }
}

function listEntries(client: ClientDescription, root: unknown): readonly (readonly [string, unknown])[] {
  return client.maps.flatMap(({ path, isList = false }) => {
    const entries = [...(getEntries(root, path, isList) ?? getEntries(root, path) ?? [])]
    // A map inside another map is not a server.
    return entries.filter(([name]) => !isMapAt(client, [...path, name]))
  })
}

/** The servers that a file of the user has for one project. */
function listProjectEntries(
  { ofProject = [] }: ClientDescription,
  root: unknown,
  where: Whereabouts,
): readonly (readonly [string, unknown])[] {
  return ofProject.flatMap((path) => [...(getEntries(root, fillProject(path, where)) ?? [])])
}

function isMapAt({ maps }: ClientDescription, path: Path): boolean {
  return maps.some((map) => isDeepStrictEqual(map.path, path))
}

/** A server of the gateway, and every place it comes from. */
export interface MergedServer {
  readonly name: string
  readonly definition: ServerDefinition
  readonly sources: readonly Source[]
  readonly notes: readonly string[]
  /** Whether the configuration already had it. */
  readonly isKnown: boolean
  /** Whose it is. What the configuration already had is the user's. */
  readonly scope: Scope
}

/**
 * Merges servers with those a configuration already has. The same server appears once, even if several clients
 * have it; different servers with the same name get numbers.
 */
export function mergeServers(
  found: readonly FoundServer[],
  known: ReadonlyMap<string, ServerDefinition> = new Map(),
): readonly MergedServer[] {
  const merged = new Map<string, MergedServer>()
  const findName = createNaming(merged)
  const launches = createLaunchIndex(merged)
  for (const [name, definition] of known) {
    merged.set(name, { name, definition, sources: [], notes: [], isKnown: true, scope: 'user' })
    launches.add(name, definition)
  }
  // The user's servers come first, so that no server of a project takes the name of one.
  const ordered = [...found.filter(({ scope }) => scope === 'user'), ...found.filter(({ scope }) => scope !== 'user')]
  for (const { source, scope, definition, notes: own, offIn } of ordered) {
    const notes = offIn === undefined ? own : [...own, `${OFF} ${offIn}`]
    const same = launches.find(definition, scope)
    if (same) {
      const both = { ...same, sources: [...same.sources, source], notes: [...new Set([...same.notes, ...notes])] }
      // Keep what the user wrote.
      if (!same.isKnown && same.scope === scope) both.definition = combine(same.definition, definition)
      // Another client has it switched on.
      if (!both.definition.disabled) both.notes = both.notes.filter((note) => !note.startsWith(OFF))
      merged.set(same.name, both)
    } else {
      const name = findName(source.name)
      merged.set(name, { name, definition, sources: [source], notes, isKnown: false, scope })
      launches.add(name, definition)
    }
  }
  return [...merged.values()]
}

const OFF = 'disabled, because it is switched off in'

/** Numbers servers whose names are taken. */
function createNaming(taken: ReadonlyMap<string, unknown>): (name: string) => string {
  const last = new Map<string, number>()
  return (name) => {
    if (!taken.has(name)) return name
    let number = last.get(name) ?? 2
    while (taken.has(`${name}-${number}`)) number += 1
    last.set(name, number)
    return `${name}-${number}`
  }
}

/** Finds servers by the way they are started, without comparing each one with all others. */
interface LaunchIndex {
  add(name: string, definition: ServerDefinition): void
  /**
   * The server that an entry starts, too. Variables that only one of them sets are ignored, but not between what is the user's and
   * what comes from a project: a project's variable next to the user's token could send the token anywhere.
   */
  find(definition: ServerDefinition, scope: Scope): MergedServer | undefined
}

function createLaunchIndex(merged: ReadonlyMap<string, MergedServer>): LaunchIndex {
  const names = new Map<string, string[]>()
  return {
    add(name, definition) {
      for (const key of [toLaunchKey(definition), toExactKey(definition)]) {
        const group = names.get(key)
        if (group) group.push(name)
        else names.set(key, [name])
      }
    },
    find(definition, scope) {
      const near = names.get(toLaunchKey(definition))?.slice(0, MOST_COMPARED_SERVERS) ?? []
      const exact = names.get(toExactKey(definition))?.slice(0, 1) ?? []
      return [...near, ...exact]
        .flatMap((name) => merged.get(name) ?? [])
        .find(
          (server) =>
            (server.isKnown || server.scope === scope || toExactKey(server.definition) === toExactKey(definition)) &&
            agree(server.definition.env, definition.env) &&
            agree(server.definition.headers, definition.headers),
        )
    },
  }
}

function toLaunchKey(definition: ServerDefinition): string {
  return JSON.stringify([definition.url, definition.cwd ?? '', getWords(definition)])
}

function toExactKey(definition: ServerDefinition): string {
  return JSON.stringify([toLaunchKey(definition), definition.env, definition.headers])
}

function getWords({ command, args = [] }: ServerDefinition): readonly string[] {
  return stripShell([command ?? '', ...args.map(String)])
}

function agree(a: Readonly<Record<string, unknown>> = {}, b: Readonly<Record<string, unknown>> = {}): boolean {
  return Object.entries(a).every(([key, value]) => !Object.hasOwn(b, key) || String(b[key]) === String(value))
}

/** A server is enabled if any client has it enabled. */
function combine(a: ServerDefinition, b: ServerDefinition): ServerDefinition {
  const { disabled, ...mine } = a
  const { disabled: isOtherDisabled, ...theirs } = b
  const fields = {
    env: omitEmpty({ ...b.env, ...a.env }),
    headers: omitEmpty({ ...b.headers, ...a.headers }),
    disabled: (disabled && isOtherDisabled) || undefined,
  }
  return { ...theirs, ...mine, ...dropUndefined(fields) }
}
