import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

/** One reply of a recorded conversation. */
export interface RecordedTurn {
  /** Seconds since the reply before. */
  readonly gap?: number
  /** Tokens of the user's text before it. */
  readonly in?: number
  /** Tokens of the reply. */
  readonly out?: number
  /** The tokens and the tools of the results of its calls. */
  readonly results?: readonly (readonly [tokens: number, tool: string])[]
  /** The earlier results that the reply quotes, and how many characters. */
  readonly needs?: readonly (readonly [result: number, characters: number])[]
}

/** What lies between two compactions of a recorded conversation. */
export interface Segment {
  readonly id: string
  /** Tokens of system text and tools. */
  readonly base: number
  readonly turns: readonly RecordedTurn[]
}

/** Reads conversations, one as JSON in each line, compressed or not. */
export function readSegments(path: string): readonly Segment[] {
  const bytes = readFileSync(path)
  const text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8')
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line, index) => checkSegment(JSON.parse(line), `${path}:${index + 1}`))
}

function checkSegment(json: unknown, place: string): Segment {
  const { id, base, turns } = (json ?? {}) as Partial<Segment>
  if (typeof id !== 'string' || typeof base !== 'number' || !Array.isArray(turns))
    throw new Error(`${place} is not a conversation: it needs id, base and turns.`)
  return { id, base, turns }
}
