import { deferPattern } from '../core/defer-pattern.ts'
import type { CatalogEntry } from './tool.ts'

type Names = Pick<CatalogEntry, 'name' | 'declared' | 'qualified'>

/** An index of tools by name, ignoring case and separators. */
export interface LooseNames {
  add(entry: Names): void
  remove(entry: Names): void
  /** Finds the qualified names of the tools with a name like this one. */
  find(name: string): Iterable<string>
}

export function createLooseNames(entries: Iterable<Names>): LooseNames {
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
