import type { Source } from './sources.ts'

/** A function that is written in several places, with the same parameters and the same body. */
export interface RepeatedFunction {
  readonly name: string
  readonly places: readonly string[]
}

/** Shorter functions say too little to be the same on purpose. */
const SHORTEST = 80

/** Finds functions at the top level of files that are the same but for their names. */
export function findRepeated(sources: readonly Source[]): readonly RepeatedFunction[] {
  const places = new Map<string, { readonly name: string; readonly places: string[] }>()
  for (const { path, text, program } of sources) {
    for (const statement of program.body) {
      const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
      if (declared?.type !== 'FunctionDeclaration' || !declared.id) continue
      const { name, end } = declared.id
      const code = text
        .slice(end, declared.end)
        .replaceAll(/\/\/.*$/gm, '')
        .replaceAll(/\s+/g, ' ')
      if (code.length < SHORTEST) continue
      const known = places.get(code) ?? { name, places: [] }
      known.places.push(path)
      places.set(code, known)
    }
  }
  return [...places.values()].filter((found) => found.places.length > 1)
}
