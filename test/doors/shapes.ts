// Inputs that have broken parsers before, each for any size.

export type Shape<Input> = readonly [name: string, make: (size: number) => Input]

const repeated = (part: string) => (size: number) => part.repeat(Math.ceil(size / part.length)).slice(0, size)

const PARTS: readonly (readonly [string, string])[] = [
  ['letters', 'a'],
  ['words', 'list all open orders of the day '],
  ['blanks', ' '],
  ['tabs and breaks', '\t\n'],
  ['line breaks', '\n'],
  ['quotes', '"'],
  ['curly quotes', '“'],
  ['apostrophes', "'"],
  ['backticks', '`'],
  ['fences', '```\n'],
  ['round brackets', '('],
  ['square brackets', '['],
  ['curly brackets', '{'],
  ['closing brackets', '}'],
  ['pairs of brackets', '[]{}'],
  ['placeholders begun', '${'],
  ['placeholders', '${x}'],
  ['escaped placeholders', '$${'],
  ['dollars', '$'],
  ['alternatives', '{?,?}'],
  ['stars', '*'],
  ['folders', '**/'],
  ['letters and stars', 'a*'],
  ['dots', 'a.'],
  ['slashes', 'a/'],
  ['parents', '../'],
  ['backslashes', '\\'],
  ['hyphens', '-'],
  ['front matter', '---\n'],
  ['list items', '- '],
  ['keys', 'k: v\n'],
  ['headings', '# '],
  ['angle brackets', '<'],
  ['ampersands', '&'],
  ['pipes', '|'],
  ['carets', '^'],
  ['plus signs', 'a+'],
  ['groups that repeat', '(a+)+'],
  ['colons', 'a:'],
  ['commas', ','],
  ['digits', '9'],
  ['signs of numbers', '-1e'],
  ['capitals inside words', 'aB'],
  ['underscores', 'a_'],
  ['changes of script', 'a中'],
  ['ideographs', '中'],
  ['accents', 'é'],
  ['emoji', '😀'],
  ['half characters', '\ud83d'],
  ['bidi marks', '\u202e'],
  ['tag characters', '\u{e0041}'],
  ['control characters', '\u0000\u001b'],
  ['names of every object', '__proto__ constructor toString '],
]

export const TEXT_SHAPES: readonly Shape<string>[] = [
  ...PARTS.map(([name, part]): Shape<string> => [name, repeated(part)]),
  [
    'many different words',
    (size) => Array.from({ length: Math.ceil(size / 7) }, (_, i) => `w${i.toString(36)}`).join(' '),
  ],
  [
    'many keys',
    (size) => `---\n${Array.from({ length: Math.ceil(size / 8) }, (_, i) => `k${i}: v`).join('\n')}\n---\n`,
  ],
  ['JSON nested deeply', (size) => '['.repeat(size / 2) + ']'.repeat(size / 2)],
  [
    'JSON with many keys',
    (size) => JSON.stringify(Object.fromEntries(Array.from({ length: size / 10 }, (_, i) => [`k${i}`, i]))),
  ],
  ['JSON begun often', (size) => '{"a": '.repeat(size / 6)],
  ['JSON in prose', (size) => 'It is {"a": 1} or so. '.repeat(size / 22)],
  ['a template with long blanks', (size) => `a\n${' '.repeat(size)}b\n`],
]

function nest(depth: number, wrap: (inner: unknown) => unknown): unknown {
  let value: unknown = {}
  for (let level = 0; level < depth; level++) value = wrap(value)
  return value
}

const keyed = (size: number, value: (index: number) => unknown): Record<string, unknown> =>
  Object.fromEntries(Array.from({ length: size }, (_, index) => [`k${index}`, value(index)]))

/** Definitions that each refer to the next; the last is a string. */
function levels(count: number, make: (next: { readonly $ref: string }) => unknown): Record<string, unknown> {
  const definitions: Record<string, unknown> = { [`l${count}`]: { type: 'string' } }
  for (let level = 0; level < count; level++) definitions[`l${level}`] = make({ $ref: `#/$defs/l${level + 1}` })
  return definitions
}

export const JSON_SHAPES: readonly Shape<unknown>[] = [
  ['lists nested deeply', (size) => nest(size, (inner) => [inner])],
  ['objects nested deeply', (size) => nest(size, (a) => ({ a }))],
  ['many keys', (size) => keyed(size, (index) => index)],
  ['many objects', (size) => Array.from({ length: size }, (_, index) => ({ index }))],
  ['many numbers', (size) => Array.from({ length: size }, (_, index) => index)],
  ['a long text', (size) => ({ text: 'a'.repeat(size * 10) })],
  ['a long key', (size) => ({ ['k'.repeat(size * 10)]: 1 })],
  [
    'names of every object',
    (size) =>
      JSON.parse(
        `{"__proto__":{"constructor":${size}},"constructor":{"prototype":1},"toString":1,"hasOwnProperty":2}`,
      ) as unknown,
  ],
  ['schemas nested by items', (size) => nest(size, (items) => ({ type: 'array', items }))],
  ['schemas nested by properties', (size) => nest(size, (a) => ({ type: 'object', properties: { a } }))],
  ['schemas nested by anyOf', (size) => nest(size, (inner) => ({ anyOf: [inner, { type: 'null' }] }))],
  [
    'a schema with many properties',
    (size) => ({ type: 'object', properties: keyed(size, () => ({ type: 'string' })) }),
  ],
  [
    'a schema with many required fields',
    (size) => ({ type: 'object', required: Array.from({ length: size }, (_, i) => `k${i}`) }),
  ],
  [
    'a schema with a large enum',
    (size) => ({ type: 'object', properties: { a: { enum: Array.from({ length: size }, (_, i) => `v${i}`) } } }),
  ],
  [
    'a schema with many alternatives',
    (size) => ({
      type: 'object',
      properties: {
        a: { anyOf: Array.from({ length: size }, (_, i) => ({ type: 'object', properties: { [`p${i}`]: {} } })) },
      },
    }),
  ],
  [
    'a schema with many references',
    (size) => ({
      type: 'object',
      $defs: keyed(size, () => ({ type: 'string' })),
      properties: Object.fromEntries(Array.from({ length: size }, (_, i) => [`p${i}`, { $ref: `#/$defs/k${i}` }])),
    }),
  ],
  [
    'a schema with many anchors',
    (size) => ({
      type: 'object',
      $defs: Object.fromEntries(Array.from({ length: size }, (_, i) => [`d${i}`, { $anchor: `a${i}` }])),
      allOf: Array.from({ length: size }, (_, i) => ({ $ref: `#a${i}` })),
    }),
  ],
  [
    'references that double',
    (size) => ({
      type: 'object',
      properties: { a: { $ref: '#/$defs/l0' } },
      $defs: levels(Math.min(size, 60), (next) => ({ allOf: [next, next] })),
    }),
  ],
  [
    'references in a chain',
    (size) => ({ type: 'object', properties: { a: { $ref: '#/$defs/l0' } }, $defs: levels(size, (next) => next) }),
  ],
  [
    'references in a circle',
    (size) => ({
      type: 'object',
      properties: { a: { $ref: '#/$defs/l0' } },
      $defs: Object.fromEntries(
        Array.from({ length: size }, (_, i) => [
          `l${i}`,
          { properties: { a: { $ref: `#/$defs/l${(i + 1) % size}` } } },
        ]),
      ),
    }),
  ],
  [
    'a pattern that backtracks',
    (size) => ({
      type: 'object',
      properties: { a: { type: 'string', pattern: `^(a+)+${'b?'.repeat(size / 10)}$` } },
      a: `${'a'.repeat(size)}!`,
    }),
  ],
  [
    'formats of every object',
    (size) => ({
      type: 'object',
      properties: {
        a: { type: 'string', format: 'toString' },
        b: { type: 'constructor', format: '__proto__' },
        c: { description: 'x'.repeat(size) },
      },
    }),
  ],
]

export function getShapes(takes: 'text' | 'json'): readonly Shape<unknown>[] {
  return takes === 'text' ? TEXT_SHAPES : JSON_SHAPES
}
