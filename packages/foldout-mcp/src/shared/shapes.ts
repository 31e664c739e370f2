import * as v from 'valibot'
import { isObject } from 'foldout-shared/values'

/*
 * Schemas of what comes from files and clients. Valibot alone takes lists for objects and infinity for a number, loses keys called
 * `constructor`, and reports one unknown key of several.
 */

/** What is wrong with a value. The message continues a sentence that begins with the field. */
export interface Mistake {
  /** Such as `tools.pay.name`; empty for the value itself. */
  readonly field: string
  readonly message: string
  /** The first key that an object must not have, if that is the mistake. */
  readonly unknown: string | undefined
}

/** Any schema. */
type Schema = v.GenericSchema

type Result<Data> =
  | { readonly data: Data; readonly mistake?: undefined }
  | { readonly data?: undefined; readonly mistake: Mistake }

/** Reads a value, up to the first mistake. */
export function read<Type extends Schema>(schema: Type, value: unknown): Result<v.InferOutput<Type>> {
  const { success, output, issues } = v.safeParse(schema, value, { abortEarly: true })
  if (success) return { data: output }
  const [{ path = [], message }] = issues
  const unknown = findUnknown(path)
  const keys = (unknown === undefined ? path : path.slice(0, -1)).map(({ key }) => String(key))
  return { mistake: { field: keys.join('.'), message, unknown } }
}

/** @throws Error if the value does not have this shape. */
export function parse<Type extends Schema>(schema: Type, value: unknown): v.InferOutput<Type> {
  const { data, mistake } = read(schema, value)
  if (mistake) throw new ShapeError(describeMistake(mistake, (field) => `"${field}"`))
  return data
}

/** A value does not have the expected shape. */
export class ShapeError extends Error {
  override readonly name = 'ShapeError'
}

/** Describes a mistake in one sentence. */
export function describeMistake({ field, message }: Mistake, subject: (field: string) => string): string {
  return `${field === '' ? 'The entry' : subject(field)}${message}.`
}

const mustBe = (what: string): string => ` must be ${what}`

export const string = v.string(mustBe('a string'))
export const boolean = v.boolean(mustBe('true or false'))
export const number = v.custom<number>(Number.isFinite, mustBe('a number'))
export const int = v.pipe(
  number,
  v.custom<number>(Number.isInteger, mustBe('a whole number')),
  v.minValue(Number.MIN_SAFE_INTEGER, mustBe(`at least ${Number.MIN_SAFE_INTEGER}`)),
  v.maxValue(Number.MAX_SAFE_INTEGER, mustBe(`at most ${Number.MAX_SAFE_INTEGER}`)),
)
/** A string that is not empty. */
export const text = v.pipe(string, v.minLength(1, ' must not be empty'))

export function atLeast(least: number) {
  return v.minValue<number, number, string>(least, mustBe(`at least ${least}`))
}

export function above(limit: number) {
  return v.gtValue<number, number, string>(limit, mustBe(`more than ${limit}`))
}

export function atMost(most: number) {
  return v.maxValue<number, number, string>(most, mustBe(`at most ${most}`))
}

export const positive = v.pipe(int, above(0))

/** A string of limited length. */
export function upTo(length: number) {
  return v.pipe(string, v.maxLength(length, ` must have at most ${length} characters`))
}

export function oneOf<const Options extends readonly string[]>(options: Options) {
  return v.picklist(options, mustBe(`one of ${options.join(', ')}`))
}

export function list<Item extends Schema>(item: Item) {
  return v.array(item, mustBe('a list'))
}

/** A list whose length is checked before its items are. */
export function shortList<Item extends Schema>(item: Item, most: number) {
  return v.pipe(
    v.custom<v.InferInput<Item>[]>(Array.isArray, mustBe('a list')),
    v.maxLength(most, ` must have at most ${most} items`),
    list(item),
  )
}

/** A value that passes a check. The message says what it must be. */
export function custom<Value>(check: (value: unknown) => boolean, what: string) {
  return v.custom<Value>(check, mustBe(what))
}

/** One of several kinds of values. A value of the right kind with a mistake in it gets the message of that mistake. */
export function union<const Options extends readonly Schema[]>(options: Options, what: string) {
  type Input = v.InferInput<Options[number]>
  type Output = v.InferOutput<Options[number]>
  return v.pipe(
    v.custom<Input>(() => true),
    v.rawTransform<Input, Output>(({ dataset, addIssue, NEVER }) => {
      const issues: v.BaseIssue<unknown>[] = []
      for (const option of options) {
        const result = v.safeParse(option, dataset.value, { abortEarly: true })
        if (result.success) return result.output
        issues.push(result.issues[0])
      }
      const inner = findNearest(issues)
      addIssue({ message: inner?.message ?? mustBe(what), ...(inner?.path && { path: inner.path }) })
      return NEVER
    }),
  )
}

/**
 * Of the mistakes that keep a value from being each of several kinds, the one of the kind that was probably meant: one in a part that the
 * value has, or in the only kind that has parts.
 */
function findNearest(issues: readonly v.BaseIssue<unknown>[]): v.BaseIssue<unknown> | undefined {
  const inside = issues.filter(({ path = [] }) => path.length > 0)
  return (
    issues.find(({ kind, path = [] }) => kind === 'validation' || findUnknown(path) !== undefined) ??
    inside.find(({ path = [] }) => path.at(-1)?.origin === 'value') ??
    (inside.length === 1 ? inside[0] : undefined)
  )
}

/** An object with these fields. Others are left out. */
export function object<const Entries extends v.ObjectEntries>(entries: Entries) {
  return refuseLists(v.object(entries, describeKey(entries)))
}

/** An object that keeps other fields. */
export function looseObject<const Entries extends v.ObjectEntries>(entries: Entries) {
  return refuseLists(v.looseObject(entries, describeKey(entries)))
}

/** An object with no other fields. */
export function strictObject<const Entries extends v.ObjectEntries>(entries: Entries) {
  return refuseLists(v.strictObject(entries, describeKey(entries)))
}

/** An object with any keys. */
export function record<Type extends Schema>(value: Type) {
  type Input = Readonly<Record<string, v.InferInput<Type>>>
  type Output = Record<string, v.InferOutput<Type>>
  return v.pipe(
    v.custom<Input>(isPlain, mustBe('an object')),
    v.rawTransform<Input, Output>(({ dataset, addIssue, NEVER }) => {
      const input = dataset.value
      const output: Output = {}
      for (const [key, inner] of Object.entries(input)) {
        if (key === '__proto__') continue
        const result = v.safeParse(value, inner, { abortEarly: true })
        if (!result.success) {
          const [{ path = [], message }] = result.issues
          addIssue({ message, path: [{ type: 'object', origin: 'value', input, key, value: inner }, ...path] })
          return NEVER
        }
        output[key] = result.output
      }
      return output
    }),
  )
}

/** Valibot's objects may be lists. */
function refuseLists<Type extends Schema>(schema: Type): Type {
  const run: Type['~run'] = (dataset, config) =>
    schema['~run'](Array.isArray(dataset.value) ? { ...dataset, value: null } : dataset, config)
  return { ...schema, '~run': run }
}

/** Describes a mistake of an object itself, or of a field that is missing or unknown. */
function describeKey(entries: v.ObjectEntries): (issue: v.BaseIssue<unknown>) => string {
  return ({ path, expected }) => {
    const [item] = path ?? []
    if (!item) return mustBe('an object')
    if (expected === 'never') {
      const unknown = Object.keys(item.input as object).filter((key) => !Object.hasOwn(entries, key))
      return ` has no setting called ${unknown.join(', ')}`
    }
    const missing = entries[String(item.key)]
    return (missing && v.safeParse(missing, undefined).issues?.[0].message) ?? ' is missing'
  }
}

/** The key at the end of a path if the mistake is that there is such a key. */
function findUnknown(path: readonly v.IssuePathItem[]): string | undefined {
  const last = path.at(-1)
  if (last?.type === 'object' && last.origin === 'key' && last.key in last.input) return last.key
  return undefined
}

function isPlain(value: unknown): boolean {
  if (!isObject(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
