import fc from 'fast-check'
import { stringify as stringifyToml } from 'smol-toml'
import { stringify as stringifyYaml } from 'yaml'
import type { DocumentFormat, Path } from './format.ts'

/** Names that trip up parsers and objects. */
const HOSTILE = [
  '__proto__',
  'constructor',
  'a.b',
  'say "hi"',
  "it's",
  '',
  '0',
  '# no',
  'ä 東',
  'a: b',
  '- x',
  '[t]',
  '\\',
]

export const anyName = fc.oneof(
  fc.constantFrom('files', 'git', 'a-b', ...HOSTILE),
  fc.string({ maxLength: 8 }).filter(isText),
)

/** Not every format can express control characters and lone surrogates. */
function isText(text: string): boolean {
  return !/\p{Cs}/u.test(text) && !/[\p{Cc}\u2028\u2029\u0085\uFEFF\uFFFE\uFFFF]/u.test(text)
}

const word = fc.oneof(
  fc.constantFrom('npx', 'C:\\a "b"', 'x # y', '${TOKEN}', 'true', '1'),
  fc.string({ maxLength: 6 }).filter(isText),
)
const server = fc.record({
  command: word,
  args: fc.array(word, { maxLength: 3 }),
  env: fc.dictionary(anyName, word, { maxKeys: 2 }),
})

const servers = fc
  .uniqueArray(fc.tuple(anyName, server), { maxLength: 3, selector: ([name]) => name })
  .filter((entries) => entries.every(([name]) => name !== 'foldout'))

/** The filler between two pieces of text. */
const space = fc.constantFrom('', '', ' ', '\n', '\n\t', '  ', '\n    ')
const jsonNoise = fc.oneof(space, fc.constantFrom(' // c\n', ' /* d */ ', '\n  // "mcpServers": {\n'))

export interface TextOptions {
  readonly format: DocumentFormat
  readonly path: Path
  readonly isList?: boolean
}

/** Texts as people write them: with or without servers, with comments and odd whitespace. */
export function createText({ format, path, isList = false }: TextOptions): fc.Arbitrary<string> {
  const texts = { json: createJson(path), yaml: createYaml(path, isList), toml: createToml(path) }[format]
  const variant = fc.record({
    isDos: fc.boolean(),
    hasMark: fc.boolean(),
    end: fc.constantFrom('', '\n', '\n\n', '\n# end'),
  })
  return fc.tuple(texts, variant).map(([text, { isDos, hasMark, end }]) => {
    const ending = end.includes('#') && format === 'json' ? '\n// end' : end
    const whole = `${text}${ending}`
    return `${hasMark ? '\uFEFF' : ''}${isDos ? whole.replaceAll('\n', '\r\n') : whole}`
  })
}

function createJson(path: Path): fc.Arbitrary<string> {
  const whole = fc.record({
    entries: fc.option(servers, { nil: undefined }),
    others: fc.dictionary(anyName, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 2 }),
    noise: fc.array(jsonNoise, { minLength: 1, maxLength: 12 }),
    hasTrailing: fc.boolean(),
  })
  const full = whole.map(({ entries, others, noise, hasTrailing }) => {
    let used = 0
    const write = (value: unknown): string => {
      const gap = (): string => noise[used++ % noise.length] ?? ''
      if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
      const isArray = Array.isArray(value)
      const members = Object.entries(value).map(
        ([key, inner]: [string, unknown]) =>
          `${gap()}${isArray ? '' : `${JSON.stringify(key)}${gap()}:${gap()}`}${write(inner)}${gap()}`,
      )
      const inside = `${members.join(',')}${members.length > 0 && hasTrailing ? ',' : ''}${gap()}`
      return isArray ? `[${inside}]` : `{${inside}}`
    }
    const [first = ''] = path
    const rest = Object.entries(others).filter(([key]) => key !== first)
    const nested = path
      .slice(1)
      .reduceRight<unknown>((inner, key) => ({ [key]: inner }), Object.fromEntries(entries ?? []))
    return write(Object.fromEntries(entries === undefined ? rest : [...rest, [first, nested]]))
  })
  return fc.oneof(
    { arbitrary: full, weight: 6 },
    fc.constantFrom('', '{}', '// nothing\n', `{"${path[0]}": null}`, '{ }'),
  )
}

function createYaml(path: Path, isList: boolean): fc.Arbitrary<string> {
  const whole = fc.record({
    entries: fc.option(servers, { nil: undefined }),
    others: fc.dictionary(fc.constantFrom('model', 'x y', 'rules'), fc.oneof(word, fc.array(word, { maxLength: 2 })), {
      maxKeys: 3,
    }),
    indent: fc.constantFrom(1, 2, 4),
    indentSeq: fc.boolean(),
    isFlow: fc.boolean(),
    comments: fc.array(fc.constantFrom('# c', '# extensions:', '#'), { maxLength: 2 }),
  })
  const full = whole.map(({ entries, others, indent, indentSeq, isFlow, comments }) => {
    const options = { indent, indentSeq, lineWidth: 0 }
    const servers = isList ? entries?.map(([name, one]) => ({ name, ...one })) : Object.fromEntries(entries ?? [])
    const [key = ''] = path
    const block = stringifyYaml({ [key]: servers }, options).split('\n')
    const commented = [
      block[0],
      ...comments.map((comment) => `${' '.repeat(indent)}${comment}`),
      ...block.slice(1),
    ].join('\n')
    const own = isFlow ? `${key}: ${JSON.stringify(servers)} # flow\n` : commented
    const rest = Object.keys(others).length === 0 ? '' : stringifyYaml(others, options)
    return `${comments.join('\n')}\n${rest}${entries === undefined ? '' : own}${comments[0] ?? ''}`
  })
  return fc.oneof(
    { arbitrary: full, weight: 6 },
    fc.constantFrom('', '# nothing\n', '---\na: 1\n', `${path[0]}:\n`, `${path[0]}: ${isList ? '[]' : '{}'}`),
  )
}

function createToml(path: Path): fc.Arbitrary<string> {
  const whole = fc.record({
    entries: fc.option(servers, { nil: undefined }),
    model: word,
    comment: fc.constantFrom('# c', '# [mcp_servers.foldout]', ''),
    multiline: fc.boolean(),
  })
  const full = whole.map(({ entries, model, comment, multiline }) => {
    const [key = ''] = path
    const tricky = multiline ? 'prompt = """\n[mcp_servers.foldout]\ncommand = 1\n"""\nlist = [\n  [1],\n]\n' : ''
    const tables = entries === undefined ? '' : stringifyToml({ [key]: Object.fromEntries(entries) })
    return `${comment}\n${stringifyToml({ model })}${tricky}\n${tables}${comment}\n[other]\nx = 1 ${comment}`
  })
  return fc.oneof({ arbitrary: full, weight: 6 }, fc.constantFrom('', '# nothing', '[mcp_servers]\n'))
}
