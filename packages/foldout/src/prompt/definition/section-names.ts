import { deferPattern } from '../../core/defer-pattern.ts'
import type { Registry } from './registry.ts'

const sectionNames = new WeakMap<Registry, ReadonlyMap<string, readonly string[]>>()

/** Maps the other names a model may use for a section (its number, its title, or both) to its path. */
function getSectionNames(registry: Registry): ReadonlyMap<string, readonly string[]> {
  const known = sectionNames.get(registry)
  if (known) return known
  const names = new Map<string, string[]>()
  for (const { path, number, section } of registry.slots) {
    for (const name of [number, section.title, `${number} ${section.title}`].map(normalizeName)) {
      const paths = names.get(name)
      if (paths) paths.push(path)
      else names.set(name, [path])
    }
  }
  sectionNames.set(registry, names)
  return names
}

/** Finds the sections with this name, ignoring case and what models write around a name. */
export function findPathsByName(registry: Registry, name: string): readonly string[] {
  return getSectionNames(registry).get(normalizeName(name)) ?? []
}

const LONGEST_NAME = 1000

// What models write around a name: heading marks, quotes, brackets, the end of a sentence.
const getEdges = deferPattern(String.raw`^[\s#"'\u0060\p{Pi}\p{Pf}<(\[{*]+|[\s"'\u0060\p{Pi}\p{Pf}>)\]}*.:,;]+$`, 'gu')

/** Removes marks and blanks around a name, and composes its letters. */
export function trimName(name: string): string {
  return name.slice(0, LONGEST_NAME).normalize('NFC').replace(getEdges(), '')
}

function normalizeName(name: string): string {
  return trimName(name).toLowerCase()
}
