import { JSON_SHAPES, TEXT_SHAPES } from './shapes.ts'

/** Random numbers, the same for the same seed. */
export function createRandom(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    // mulberry32
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

type Random = ReturnType<typeof createRandom>

const pick = <Value>(random: Random, values: readonly Value[]): Value => {
  const value = values[random(values.length)]
  if (value === undefined) throw new Error('There is nothing to pick from.')
  return value
}

const NAMES = [
  'a',
  'name',
  'type',
  'properties',
  'items',
  'anyOf',
  'allOf',
  '$ref',
  'enum',
  'required',
  'pattern',
  'format',
]
const ODD_NAMES = ['__proto__', 'constructor', 'toString', 'then', '', ' ', 'a\nb', '\ud83d', '$defs', 'k'.repeat(300)]
const SCALARS: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  1,
  -1,
  1.5,
  1e308,
  2 ** 53,
  '',
  'a',
  'object',
  'string',
  'array',
  '#',
  '#/$defs/a',
  '(a+)+$',
  '[',
  '\\',
  '${x}',
  '中a中',
  '\u202e',
  '\ud83d',
  '2026-01-01',
  'toString',
  '__proto__',
]

/** A text made of pieces that have broken parsers. */
export function generateText(random: Random): string {
  const pieces = Array.from({ length: 1 + random(6) }, () => {
    const [, make] = pick(random, TEXT_SHAPES)
    return make(22 + random(120))
  })
  const text = pieces.join(random(2) === 0 ? '' : pick(random, [' ', '\n', '\0', '"']))
  // Cut anywhere, like a stream.
  return random(3) === 0 ? text.slice(random(text.length + 1)) : text
}

/** A JSON value, often like a schema. */
export function generateJson(random: Random, depth = 0): unknown {
  if (depth === 0 && random(10) === 0) return pick(random, JSON_SHAPES)[1](10 + random(30))
  const kind = depth > 4 ? 0 : random(4)
  if (kind === 1) return Array.from({ length: random(5) }, () => generateJson(random, depth + 1))
  if (kind > 1) {
    const value: Record<string, unknown> = {}
    for (let count = random(6); count > 0; count--) {
      const name = pick(random, random(5) === 0 ? ODD_NAMES : NAMES)
      // Defined instead of assigned, so that `__proto__` becomes a field, as with JSON.parse.
      const field = { value: generateJson(random, depth + 1), enumerable: true, configurable: true, writable: true }
      Object.defineProperty(value, name, field)
    }
    return value
  }
  return random(6) === 0 ? generateText(random) : pick(random, SCALARS)
}
