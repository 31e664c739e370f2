import { PromptRenderError, PromptValidationError } from './errors.ts'

/**
 * Values that a template can print. The caller must format objects and arrays first.
 *
 * @example
 * ```ts
 * const format = (price: number): Printable => price.toFixed(2)
 * format(4.5) // => '4.50'
 * ```
 */
export type Printable = string | number | bigint | boolean

/**
 * The names used as `${name}` in a literal template; `$${` is an escaped `${`. The type is tail-recursive with a named
 * head, which allows 900 placeholders: the compiler's limit is 999 steps.
 */
export type PlaceholderNames<
  Text extends string,
  Found extends string = never,
> = Text extends `${infer Head}\${${infer Name}}${infer Rest}`
  ? Head extends `${string}$`
    ? PlaceholderNames<`${Name}}${Rest}`, Found>
    : PlaceholderNames<Rest, Found | Name>
  : Found

/**
 * A template written with the `md` tag; its placeholder names are known to the compiler.
 *
 * @example
 * ```ts
 * const template: Template<'customer'> = md`Greet ${'customer'} by name.`
 * template.names // => [ 'customer' ]
 * ```
 */
export interface Template<out Names extends string = string> {
  /** The texts around the placeholders: always one more than there are names. */
  readonly literals: readonly string[]
  readonly names: readonly string[]
  readonly '~names'?: Names
}

/** The placeholder names of either form. The compiler cannot know those of a plain `string`, such as a file's content. */
export type NamesOf<T> =
  T extends Template<infer Names> ? Names : T extends string ? (string extends T ? never : PlaceholderNames<T>) : never

/**
 * A compiler message, never a value: a template names a placeholder that its params do not declare.
 *
 * @example
 * ```ts
 * defineSection({
 *   key: 'greeting',
 *   title: 'Greeting',
 *   params: z.object({ customer: z.string() }),
 *   // @ts-expect-error UnknownPlaceholder<'client', 'customer'>
 *   template: md`Greet ${'client'}.`,
 * })
 * ```
 */
export interface UnknownPlaceholder<Name, Declared> {
  readonly '~unknown': [Name, Declared]
}
/**
 * A compiler message, never a value: a placeholder's value is an object or a list, which must be formatted first.
 *
 * @example
 * ```ts
 * defineSection({
 *   key: 'orders',
 *   title: 'Orders',
 *   params: z.object({ orders: z.array(z.string()) }),
 *   // @ts-expect-error UnprintablePlaceholder<'orders'>
 *   template: md`The orders are ${'orders'}.`,
 * })
 * ```
 */
export interface UnprintablePlaceholder<Name> {
  readonly '~unprintable': Name
}

type UnprintableOf<Names, Params> = {
  [Name in Names & keyof Params]: Params[Name] extends Printable ? never : Name
}[Names & keyof Params]

/** `T` if every placeholder is declared in `Params` and printable; otherwise a type that describes the problem. */
export type CheckedTemplate<T, Params> = [Exclude<NamesOf<T>, keyof Params>] extends [never]
  ? [UnprintableOf<NamesOf<T>, Params>] extends [never]
    ? T
    : UnprintablePlaceholder<UnprintableOf<NamesOf<T>, Params>>
  : UnknownPlaceholder<Exclude<NamesOf<T>, keyof Params>, keyof Params & string>

/**
 * The inferred params of a template without declared params: its placeholders.
 *
 * @example
 * ```ts
 * const greeting = 'Greet ${customer}, who has ordered ${count} items.'
 * const values: InferredParams<typeof greeting> = { customer: 'Ada', count: 3 }
 * ```
 */
export type InferredParams<T> = [NamesOf<T>] extends [never] ? {} : { readonly [K in NamesOf<T>]: Printable }

/**
 * Creates a template with placeholders as JavaScript substitutions. Unlike the string form, it can have a literal `$`
 * directly before a placeholder, and a literal `${` needs no `$${` escape.
 *
 * @example
 * ```ts
 * const greeting = defineSection({ key: 'greeting', title: 'Greeting', template: md`Greet ${'customer'} by name.` })
 * ```
 */
export function md<const Names extends readonly string[]>(
  strings: TemplateStringsArray,
  ...names: Names
): Template<Names[number]> {
  return compile(dedent(strings), names)
}

/** Parses the string form, or returns a template made by `md`. Takes linear time, whatever the text contains. */
export function parseTemplate(template: string | Template): Template {
  if (typeof template !== 'string') return template
  const literals: string[] = []
  const names: string[] = []
  let literal = ''
  let from = 0
  for (let at = template.indexOf('${'); at !== -1; at = template.indexOf('${', from)) {
    if (at > from && template[at - 1] === '$') {
      literal += `${template.slice(from, at - 1)}\${`
      from = at + 2
      continue
    }
    const end = template.indexOf('}', at)
    // If there is no closing brace from here on, later placeholders have none either.
    if (end === -1) break
    literals.push(literal + template.slice(from, at))
    names.push(template.slice(at + 2, end))
    literal = ''
    from = end + 1
  }
  literals.push(literal + template.slice(from))
  return compile(dedent(literals), names)
}

function compile<Names extends string>(literals: readonly string[], names: readonly Names[]): Template<Names> {
  if (names.includes('' as Names)) {
    throw new PromptValidationError(
      'A template contains the placeholder ${} without a name. Name it, or write $${} for the literal text.',
      { placeholder: '' },
    )
  }
  return Object.freeze({ literals: Object.freeze(literals), names: Object.freeze([...names]) })
}

/**
 * Returns the string form of a template, or `undefined` if it has none: a literal `$` directly before a placeholder would
 * be read as an escape.
 */
export function toTemplateSource(template: Template): string | undefined {
  const { literals, names } = template
  let source = escapeTemplate(literals[0] ?? '')
  for (const [i, name] of names.entries()) {
    if (source.endsWith('$')) return undefined
    source += `\${${name}}${escapeTemplate(literals[i + 1] ?? '')}`
  }
  return source
}

/** Creates a template that renders exactly this text. */
// The replacement is a function, because `$$` means `$` in a replacement string.
export const escapeTemplate = (literal: string): string => literal.replaceAll('${', () => '$${')

/** Removes the common indentation and the blank edges of a text in pieces, with placeholders between them. */
function dedent(pieces: readonly string[]): string[] {
  const result = pieces.some((piece) => piece.includes('\n')) ? removeIndent(pieces) : [...pieces]
  // The whole text may begin or end with a placeholder, which must not be stripped.
  const last = result.length - 1
  result[0] = (result[0] ?? '').trimStart()
  result[last] = (result[last] ?? '').trimEnd()
  return result
}

function removeIndent(pieces: readonly string[]): string[] {
  let indent = Infinity
  const lines = pieces.map((piece) => piece.split('\n'))
  for (const [at, own] of lines.entries()) {
    for (const [i, line] of own.entries()) {
      // The first line of a later piece continues after a placeholder, so it has no indentation.
      if (i === 0 && at > 0) continue
      const width = line.length - line.trimStart().length
      const endsInPlaceholder = i === own.length - 1 && at < pieces.length - 1
      if (width < line.length || endsInPlaceholder) indent = Math.min(indent, width)
    }
  }
  if (indent === 0 || indent === Infinity) return [...pieces]
  return lines.map((own, at) => own.map((line, i) => (i === 0 && at > 0 ? line : line.slice(indent))).join('\n'))
}

/** Whether a template renders visible text whatever its values are. */
export function hasInk(template: Template): boolean {
  return template.literals.some((literal) => /\S/.test(literal))
}

/** Surrounds a template with two texts. */
export function wrapTemplate(before: string, template: Template, after: string): Template {
  const literals = [...template.literals]
  const last = literals.length - 1
  literals[0] = before + (literals[0] ?? '')
  if (after !== '') literals[last] = (literals[last] ?? '') + after
  return { literals, names: template.names }
}

type Values = Readonly<Record<string, unknown>>

/** Fills a template with values. Values are inserted unchanged and are not expanded again. */
export function fillTemplate(template: Template, values: Values, path: string): string {
  checkValues(template, values, path)
  return fillChecked(template, values)
}

/** Like `fillTemplate`, for values that were already checked. */
export function fillChecked(template: Template, values: Values): string {
  const { literals, names } = template
  let text = literals[0] ?? ''
  let i = 1
  for (const name of names) text += String(values[name]) + (literals[i++] ?? '')
  return text
}

/** Throws a {@link PromptRenderError} unless all values of a template are bound and printable. */
export function checkValues(template: Template, values: Values, path: string): void {
  for (const name of template.names) {
    const value = values[name]
    if (typeof value === 'string' || isPrintable(value)) continue
    const isMissing = value === undefined || !Object.hasOwn(values, name)
    const fault = isMissing ? 'is missing. Bind it' : `is ${getKind(value)}. Bind a string, number or boolean`
    throw new PromptRenderError(`Section '${path}' cannot be rendered: the value '${name}' ${fault}.`, {
      path,
      placeholder: name,
    })
  }
}

export function isPrintable(value: unknown): value is Printable {
  return (
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint'
  )
}

/** Describes the kind of a value for a message. */
export function getKind(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'an object'
  return `a ${typeof value}`
}
