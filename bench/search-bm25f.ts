import { stemmer } from 'stemmer'
import type { DataTool } from './search-data.ts'

/**
 * Textbook fielded BM25, as a baseline: identifiers split, stop words of requests dropped, Porter
 * stems; name ×3, tags and category ×1.5, description ×1, parameters ×0.5. It shares no code with the engine under test.
 */
const K1 = 1.2
const B = 0.75
const WEIGHTS = [3, 1.5, 1, 0.5]
const STOP_WORDS = new Set(
  `a an the this that these those i me my we us our you your he she it its they them their and or but so if then than as of in on at to for from by with about into is are was were be been am do does did has have had can could will would shall should may might must not no what which who when where why how some any all please want need like help tell give let know looking get also just there here`.split(
    ' ',
  ),
)

interface Posting {
  readonly tool: number
  readonly counts: readonly number[]
}

export function createPlainBm25f(tools: readonly DataTool[]): (query: string, limit: number) => readonly string[] {
  const postings = new Map<string, Posting[]>()
  const documents = tools.map(getFields)
  documents.forEach((fields, tool) => {
    const counts = new Map<string, number[]>()
    fields.forEach((words, field) => {
      for (const word of words) {
        if (!counts.has(word)) counts.set(word, [0, 0, 0, 0])
        counts.get(word)![field]!++
      }
    })
    for (const [word, count] of counts) {
      if (!postings.has(word)) postings.set(word, [])
      postings.get(word)!.push({ tool, counts: count })
    }
  })
  const averages = WEIGHTS.map(
    (_, field) => documents.reduce((sum, fields) => sum + fields[field]!.length, 0) / tools.length || 1,
  )

  return (query, limit) => {
    const scores = new Map<number, number>()
    for (const word of new Set(getWords(query))) {
      const found = postings.get(word) ?? []
      const idf = Math.log(1 + (tools.length - found.length + 0.5) / (found.length + 0.5))
      for (const { tool, counts } of found) {
        let frequency = 0
        counts.forEach((count, field) => {
          const length = documents[tool]![field]!.length / averages[field]!
          frequency += (WEIGHTS[field]! * count) / (1 - B + B * length)
        })
        scores.set(tool, (scores.get(tool) ?? 0) + (idf * frequency * (K1 + 1)) / (K1 + frequency))
      }
    }
    return [...scores]
      .sort(([a, scoreA], [b, scoreB]) => scoreB - scoreA || a - b)
      .slice(0, limit)
      .map(([tool]) => tools[tool]!.name)
  }
}

function getFields({ name, description = '', category = '', tags = [], inputSchema }: DataTool): readonly string[][] {
  return [
    getWords(name),
    getWords(`${tags.join(' ')} ${category}`),
    getWords(description),
    getWords(getParameters(inputSchema).join(' ')),
  ]
}

/** Names and descriptions of parameters, at every depth. */
export function getParameters(schema: unknown): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const { properties = {}, items } = schema as { properties?: Record<string, unknown>; items?: unknown }
  const own = Object.entries(properties).flatMap(([name, property]) => {
    const { description } = (property ?? {}) as { description?: unknown }
    return [name, typeof description === 'string' ? description : '', ...getParameters(property)]
  })
  return [...own, ...getParameters(items)]
}

function getWords(text: string): string[] {
  return text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Za-z])([0-9])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '' && !STOP_WORDS.has(word))
    .map((word) => stemmer(word))
}
