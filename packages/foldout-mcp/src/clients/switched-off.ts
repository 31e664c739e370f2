import type { CheckText } from '../gateway/config/read-config.ts'
import type { ClientDescription, Scope, Switches } from './client.ts'
import { isObject } from 'foldout-shared/values'
import { getAt, loadFormat } from './documents/document.ts'
import { findFile } from './files.ts'
import { expandPlaces, fillProject, type Whereabouts } from './places.ts'

/** The file in which the user has switched a server off; undefined if it is on. The scope is the one of the file with the server. */
export type FindSwitch = (server: string, scope: Scope) => string | undefined

/**
 * Reads where the user has switched servers of a client off, apart from their own entries. A file of a project that is about servers of
 * the user, too, is checked first, and ignored if it must not be used.
 */
export async function readSwitches(
  { switches = [] }: ClientDescription,
  scopes: readonly Scope[],
  where: Whereabouts,
  check?: CheckText,
): Promise<FindSwitch> {
  const wanted = switches.filter(({ scope }) => scopes.includes(scope))
  const read = await Promise.all(
    wanted.map(async (one) =>
      Promise.all(
        expandPlaces(one.files, where).map(async (file) => {
          const isChecked = one.of === undefined && !one.files.some((place) => /^[~{]/.test(place))
          return { ...one, file, root: await readRoot(file, isChecked ? check : undefined) }
        }),
      ),
    ),
  )
  const all = read.flat().map(({ root, path, ...one }) => ({ ...one, value: getAt(root, fillProject(path, where)) }))
  return (server, scope) =>
    all.find(({ of, value, rule }) => (of === undefined || of === scope) && RULES[rule](value, server))?.file
}

const RULES: Readonly<Record<Switches['rule'], (value: unknown, server: string) => boolean>> = {
  denied: (value, server) => Array.isArray(value) && value.includes(server),
  allowed: (value, server) => Array.isArray(value) && value.length > 0 && !value.includes(server),
  // Gemini CLI writes the names in lower case.
  enabled: (value, server) => {
    const own = getAt(value, [server.trim().toLowerCase()])
    return isObject(own) && own['enabled'] === false
  },
}

/** A file that cannot be read switches nothing off. If it also has servers, its problem is reported with them. */
async function readRoot(file: string, check?: CheckText): Promise<unknown> {
  try {
    const { text } = await findFile(file)
    if (text === undefined) return undefined
    await check?.(file, text)
    return (await loadFormat('json')).parse(text)
  } catch {
    return undefined
  }
}
