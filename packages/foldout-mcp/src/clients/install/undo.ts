import { isDeepStrictEqual } from 'node:util'
import { type Format, type ServerPlace } from '../documents/format.ts'
import { applyChanges, getAt, getEntries, hasSameMeaning, isEmpty } from '../documents/document.ts'
import { mergeTexts } from '../documents/merge.ts'
import { startsFoldout } from '../entries.ts'
import type { MovedServer, Receipt } from '../state.ts'

/** A client's file without an installation. */
export interface Undone {
  /** Undefined if there should be no file. */
  readonly text: string | undefined
  /** Whether the gateway was in the file. */
  readonly hadGateway: boolean
  /** The moved servers that come back. */
  readonly returned: readonly MovedServer[]
  /** The moved servers that the client has, whether they come back or were there. */
  readonly present: readonly MovedServer[]
  /** The moved servers that cannot come back, because the client has other servers with their names. */
  readonly taken: readonly MovedServer[]
}

/** Undoes an installation. Changes since then are kept. If the file is gone, the moved servers get a new one. */
export function undoInstallation(current: string | undefined, receipt: Receipt, format: Format, initial = ''): Undone {
  const { moved, path, isList } = receipt
  const listEntries = (text: string | undefined): ReadonlyMap<string, unknown> =>
    getEntries(format.parse(text ?? ''), path, isList) ?? new Map<string, unknown>()
  const isExact = current === receipt.after
  const start = current ?? (moved.length === 0 ? undefined : initial)
  const text = isExact ? undoExact(receipt, format, initial) : undoEdits(start, receipt, format)
  const [before, after] = [listEntries(start), listEntries(text)]
  const isPresent = ({ name, entry }: MovedServer): boolean => isSameEntry(after.get(name), entry)
  const present = moved.filter(isPresent)
  return {
    text,
    hadGateway: isExact || listGateways(before, listEntries(receipt.before ?? '')).length > 0,
    returned: present.filter(({ name, entry }) => !isSameEntry(before.get(name), entry)),
    present,
    taken: moved.filter((server) => !isPresent(server)),
  }
}

/**
 * Undoes an installation of a file that has not changed since. What the client's own command wrote into a new file beside the gateway
 * is the client's, and stays.
 */
function undoExact(receipt: Receipt, format: Format, initial: string): string | undefined {
  if (receipt.before !== null) return receipt.before
  const rest = undoEdits(receipt.after, receipt, format)
  const parse = (text: string): unknown => withoutEmpty(format.parse(text), receipt.path)
  if (rest === undefined || isDeepStrictEqual(parse(rest), parse(initial))) return undefined
  return rest
}

/** A parsed file without its list of servers, if that is empty. */
function withoutEmpty(root: unknown, path: readonly string[]): unknown {
  const [key, ...inner] = path
  if (key === undefined || typeof root !== 'object' || root === null) return root
  return Object.fromEntries(
    Object.entries(root)
      .map(([name, value]) => [name, name === key ? withoutEmpty(value, inner) : value] as const)
      .filter(([name, value]) => name !== key || !isEmpty(value)),
  )
}

function undoEdits(current: string | undefined, receipt: Receipt, format: Format): string | undefined {
  if (current === undefined) return undefined
  const { before, after } = receipt
  const edited = undoEntries(current, receipt, format)
  const merged = mergeTexts(after, current, before ?? '')
  // Merged lines have all comments in their places, but may not be what is meant.
  const next = merged !== undefined && isMeant(merged, edited, receipt, format) ? merged : edited
  if (before === null && isEmpty(format.parse(next))) return undefined
  return next
}

function isMeant(text: string, meant: string, place: ServerPlace, format: Format): boolean {
  try {
    return hasSameMeaning(format.parse(text), format.parse(meant), place)
  } catch {
    return false
  }
}

/** Undoes the changes entry by entry. Entries that come back are written as they were, with their comments. */
function undoEntries(current: string, receipt: Receipt, format: Format): string {
  const { path, isList, moved, isNewContainer } = receipt
  const before = receipt.before ?? ''
  const present = getEntries(format.parse(current), path, isList) ?? new Map<string, unknown>()
  const original = getEntries(format.parse(before), path, isList) ?? new Map<string, unknown>()
  // Of several with one name, which were moved one after the other, the first is the latest.
  const latest = new Map(moved.toReversed().map((server) => [server.name, server]))
  const changes = [
    ...listGateways(present, original).map((name) => ({ name, value: undefined })),
    ...Array.from(latest.values())
      .filter(({ name }) => !present.has(name))
      .map(({ name, entry }) => {
        if (!isSameEntry(original.get(name), entry)) return { name, value: entry }
        return { name, value: original.get(name), source: format.extract(before, { path, isList, name }) }
      }),
  ]
  const next = applyChanges(format, current, { path, isList }, changes)
  const key = path.at(-1)
  if (isNewContainer && key !== undefined && isEmpty(getAt(format.parse(next), path)))
    return removeContainer(format, next, path.slice(0, -1), key)
  return next
}

/** Whether an entry of a file is one that was kept as JSON. */
export function isSameEntry(inFile: unknown, kept: unknown): boolean {
  return inFile !== undefined && isDeepStrictEqual(JSON.parse(JSON.stringify(inFile)), kept)
}

/** The entries that start the gateway, whatever their names are now, except those that were there before. */
function listGateways(present: ReadonlyMap<string, unknown>, before: ReadonlyMap<string, unknown>): readonly string[] {
  return [...present]
    .filter(([name, entry]) => startsFoldout(entry) && !isDeepStrictEqual(before.get(name), entry))
    .map(([name]) => name)
}

function removeContainer(format: Format, text: string, path: readonly string[], name: string): string {
  const edited = format.edit(text, { path }, [{ name, value: undefined }])
  if (isEmpty(getAt(format.parse(edited), [...path, name]))) return edited
  return text
}
