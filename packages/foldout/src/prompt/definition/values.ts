import { ignore } from '../../core/promises.ts'
import { PromptRenderError, PromptValidationError } from '../../core/errors.ts'
import { describeIssues, issueKeys, type StandardSchemaV1 } from '../../core/schema/schema.ts'
import { isPrintable, getKind } from '../../core/template.ts'
import { joinWords, nameSome, nearest } from '../../core/text.ts'
import type { Registry, Slot } from './registry.ts'

export type FlatValues = Readonly<Record<string, unknown>>

/** The values bound to a prompt, as each section sees them. */
export interface BoundValues {
  readonly flat: FlatValues
  /** Whether every value that templates use without a schema is bound. */
  readonly isComplete: boolean
  /** Returns the validated params of a section. Throws a {@link PromptRenderError} if some are missing. */
  of(slot: Slot): FlatValues
  /** Like `of`, but returns whatever is bound: a section may be disabled because its values are missing. */
  asGiven(slot: Slot): FlatValues
}

type Parsed = { readonly values: FlatValues } | { readonly missing: string; readonly placeholder: string | undefined }

/**
 * Validates the flat values with every section's schema. Values of the wrong type and values that no section uses are
 * rejected here. A missing value only matters when a section that needs it is rendered.
 */
export function bindValues(
  registry: Registry,
  flat: FlatValues,
  { isPart = false }: { readonly isPart?: boolean } = {},
): BoundValues {
  const parsed = new Map<number, Parsed>()
  const consumed = new Set<string>(registry.inferred.keys())
  let takesAll = false
  for (const slot of registry.slots) {
    const { params } = slot.section
    if (!params) continue
    const result = parse(slot, params, flat)
    parsed.set(slot.index, result)
    if (slot.inputNames) for (const name of slot.inputNames) consumed.add(name)
    else if ('values' in result) for (const name of Object.keys(result.values)) consumed.add(name)
    else takesAll = true
  }
  for (const [name, slot] of registry.inferred) {
    const value = Object.hasOwn(flat, name) ? flat[name] : undefined
    if (value !== undefined && !isPrintable(value)) {
      throw new PromptValidationError(
        `Section '${slot.path}': the value '${name}' is ${getKind(value)}. Templates accept strings, numbers and booleans; format it first.`,
        { path: slot.path, placeholder: name },
      )
    }
  }
  // A part of a prompt has the values of the whole.
  if (!takesAll && !isPart) refuseExcess(flat, consumed)
  return {
    flat,
    isComplete: [...registry.inferred.keys()].every((name) => Object.hasOwn(flat, name) && flat[name] !== undefined),
    of(slot) {
      const own = slot.section.params ? parsed.get(slot.index) : undefined
      if (own === undefined) return flat
      if ('values' in own) return own.values
      throw new PromptRenderError(
        `Section '${slot.path}' cannot be rendered: ${own.missing}. Bind the value, or disable the section.`,
        { path: slot.path, placeholder: own.placeholder },
      )
    },
    asGiven(slot) {
      const own = parsed.get(slot.index)
      if (own !== undefined && 'values' in own) return own.values
      return flat
    },
  }
}

function parse(slot: Slot, params: StandardSchemaV1, flat: FlatValues): Parsed {
  // A strict schema would reject the other sections' values.
  const result = params['~standard'].validate(slot.inputNames ? pick(flat, slot.inputNames) : { ...flat })
  if (result instanceof Promise) {
    void ignore(result, 'the error below says what is wrong')
    throw new PromptValidationError(
      `Section '${slot.path}': its params schema validates asynchronously, but rendering is synchronous. Use a synchronous schema.`,
      { path: slot.path },
    )
  }
  if (!result.issues) return { values: result.value as FlatValues }
  const isMissing = (name: PropertyKey | undefined): boolean =>
    typeof name === 'string' && !(Object.hasOwn(flat, name) && flat[name] !== undefined)
  const mistyped = result.issues.filter((issue) => !isMissing(issueKeys(issue)[0]))
  if (mistyped.length > 0) {
    const [first] = mistyped
    const name = first && issueKeys(first)[0]
    throw new PromptValidationError(
      `Section '${slot.path}' rejected the values bound to it: ${describeIssues(mistyped)}.`,
      { path: slot.path, placeholder: name === undefined ? undefined : String(name) },
    )
  }
  const names = [...new Set(result.issues.map((issue) => String(issueKeys(issue)[0])))]
  return {
    missing: `${joinWords(names.map((name) => `'${name}'`))} ${names.length > 1 ? 'are' : 'is'} missing`,
    placeholder: names[0],
  }
}

function pick(flat: FlatValues, names: ReadonlySet<string>): Record<string, unknown> {
  const own: Record<string, unknown> = {}
  for (const name of names) if (Object.hasOwn(flat, name)) own[name] = flat[name]
  return own
}

function refuseExcess(flat: FlatValues, known: ReadonlySet<string>): void {
  const excess = Object.keys(flat).filter((name) => !known.has(name) && flat[name] !== undefined)
  if (excess.length === 0) return
  throw new PromptValidationError(
    `No section has a value ${joinWords(excess.map((name) => `'${name}'`))}. ${describeKnown(excess[0] ?? '', known)}`,
    { placeholder: excess[0] },
  )
}

function describeKnown(name: string, known: ReadonlySet<string>): string {
  if (known.size === 0) return 'This prompt takes no values.'
  const [near] = nearest(name, known, 1)
  if (near === undefined) return `This prompt takes: ${nameSome([...known], 10)}.`
  return `Did you mean '${near}'?`
}
