import { deferPattern } from '../../core/defer-pattern.ts'
import { isForModels } from '../entries/audience.ts'
import type { PreparedTool } from '../entries/read-tool.ts'
import { createNameTable } from '../names.ts'
import { createTaker, type Preparation } from '../search/backlog.ts'
import type { CatalogEntry } from '../tool.ts'

/** The cost of creating an entry, in characters of indexing. */
const ENTRY_COST = 50

interface EntryTableOptions {
  /** Called with each entry that models may see. */
  onAdd(entry: CatalogEntry): void
  onRemove(qualified: string): void
}

/**
 * The tools of a catalog and their entries. Adding or removing a tool may change the names of others, so it only marks entries;
 * they are created in the background, or when one is needed.
 */
export class EntryTable {
  readonly #options: EntryTableOptions
  readonly #prepared = new Map<string, PreparedTool>()
  /** The entries with their current names, by qualified name. */
  readonly #entries = new Map<string, CatalogEntry>()
  readonly #names = createNameTable()
  readonly #byName = new Map<string, string>()
  /** The tools whose entries are missing or have an old name, by qualified name. */
  readonly #renamed = new Set<string>()
  /** Computed on first use. */
  #looseNames: LooseNames | undefined

  constructor(options: EntryTableOptions) {
    this.#options = options
  }

  /** The number of tools. */
  get size(): number {
    return this.#prepared.size
  }

  getTool(qualified: string): PreparedTool | undefined {
    return this.#prepared.get(qualified)
  }

  add(tool: PreparedTool): void {
    for (const touched of this.#names.add(tool.source, tool.declared)) this.#renamed.add(touched)
    this.#prepared.set(tool.qualified, tool)
  }

  drop(entry: CatalogEntry): void {
    const { qualified } = entry
    this.#forget(entry)
    this.#entries.delete(qualified)
    this.#prepared.delete(qualified)
    for (const touched of this.#names.remove(qualified)) this.#renamed.add(touched)
  }

  /** The entries of all tools, with their current names. */
  get entries(): ReadonlyMap<string, CatalogEntry> {
    // Clearing even an empty set allocates a new table, and this runs on every call.
    if (this.#renamed.size === 0) return this.#entries
    for (const qualified of this.#renamed) this.#rename(qualified)
    this.#renamed.clear()
    return this.#entries
  }

  /** Creates the entries of a large catalog in the background, because it takes time, or when one is needed. */
  get preparation(): Preparation {
    const take = createTaker(this.#renamed)
    return {
      isDone: () => this.#renamed.size === 0,
      work: () => {
        const [qualified] = take() ?? []
        if (qualified !== undefined) this.#rename(qualified)
        return ENTRY_COST
      },
    }
  }

  /** Updates the entry of a tool whose name may have changed. */
  #rename(qualified: string): void {
    const before = this.#entries.get(qualified)
    const name = this.#names.getName(qualified)
    if (before?.name === name) return
    if (before) this.#forget(before)
    const entry = this.#prepared.get(qualified)?.createEntry(name)
    if (!entry) return
    this.#entries.set(qualified, entry)
    this.#remember(entry)
  }

  #remember(entry: CatalogEntry): void {
    this.#byName.set(entry.name, entry.qualified)
    this.#looseNames?.add(entry)
    if (isForModels(entry)) this.#options.onAdd(entry)
  }

  #forget(entry: CatalogEntry): void {
    if (this.#byName.get(entry.name) === entry.qualified) this.#byName.delete(entry.name)
    this.#looseNames?.remove(entry)
    this.#options.onRemove(entry.qualified)
  }

  /** Finds a tool by the name that models see, or by its qualified name. */
  find(name: string): CatalogEntry | undefined {
    const { entries } = this
    return entries.get(this.#byName.get(name) ?? name)
  }

  /** Finds the tools whose names differ from this one only in case and separators. */
  findAlike(name: string): readonly CatalogEntry[] {
    const { entries } = this
    this.#looseNames ??= createLooseNames(entries.values())
    const alike = Array.from(this.#looseNames.find(name), (known) => entries.get(known))
    return alike.filter((entry) => entry !== undefined)
  }
}

type Names = Pick<CatalogEntry, 'name' | 'declared' | 'qualified'>

/** An index of tools by name, ignoring case and separators. */
interface LooseNames {
  add(entry: Names): void
  remove(entry: Names): void
  /** Finds the qualified names of the tools with a name like this one. */
  find(name: string): Iterable<string>
}

function createLooseNames(entries: Iterable<Names>): LooseNames {
  const groups = new Map<string, Set<string>>()
  const add = (entry: Names): void => {
    for (const loose of getLooseNames(entry)) {
      const group = groups.get(loose)
      if (group) group.add(entry.qualified)
      else groups.set(loose, new Set([entry.qualified]))
    }
  }
  for (const entry of entries) add(entry)
  return {
    add,
    remove(entry) {
      for (const loose of getLooseNames(entry)) {
        const group = groups.get(loose)
        group?.delete(entry.qualified)
        if (group?.size === 0) groups.delete(loose)
      }
    },
    find: (name) => groups.get(toLooseName(name)) ?? [],
  }
}

const getSeparators = deferPattern(String.raw`[^\p{Letter}\p{Number}]+`, 'gu')

function toLooseName(name: string): string {
  return name.toLowerCase().replaceAll(getSeparators(), '')
}

function getLooseNames({ declared, qualified, name }: Names): ReadonlySet<string> {
  return new Set([toLooseName(declared), toLooseName(qualified), toLooseName(name)])
}
