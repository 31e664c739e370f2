import { isObject } from 'foldout-shared/values'
import type { SchemaObject } from './document.ts'
import type { Check, Keyword, Outcome, Place, Run } from './run.ts'
import { getMatcher } from './value-keywords.ts'
import { formatCount } from '../../text.ts'
import { describeUnknownField, formatPath, shorten, showName } from './wording.ts'

/** Creates a check for objects; other values pass. */
function ofObjects(check: (object: SchemaObject, place: Place, run: Run, outcome: Outcome) => void): Check {
  return (place, run, outcome) => {
    if (isObject(place.value)) check(place.value, place, run, outcome)
  }
}

/** Checks one field and marks it as evaluated, whatever the result. */
function checkField(schema: unknown, name: string, place: Place, run: Run, outcome: Outcome): void {
  const value = (place.value as SchemaObject)[name]
  outcome.markField(name)
  // Reported for the object, with its known fields: a caller who used a wrong field is looking for the right one.
  if (schema === false) outcome.add({ place, field: name, keyword: 'false', describe: () => 'is not allowed' })
  else for (const issue of run.evaluate(schema, place.at(name, value)).issues) outcome.add(issue)
}

// The loop runs over the value's fields, so a large schema costs nothing extra for small values.
const properties: Keyword = (schemas) => {
  if (!isObject(schemas)) return undefined
  return ofObjects((object, place, run, outcome) => {
    for (const name of Object.keys(object)) {
      run.spend()
      if (Object.hasOwn(schemas, name) && !outcome.isFull) checkField(schemas[name], name, place, run, outcome)
    }
  })
}

const patternProperties: Keyword = (schemas) => {
  if (!isObject(schemas)) return undefined
  const patterns = Object.entries(schemas).map(([source, schema]) => ({ matches: getMatcher(source), schema }))
  return ofObjects((object, place, run, outcome) => {
    for (const name of Object.keys(object))
      for (const { matches, schema } of patterns) {
        run.spend()
        if (matches(name, run.steps) && !outcome.isFull) checkField(schema, name, place, run, outcome)
      }
  })
}

const additionalProperties: Keyword = (value, schema) => {
  const known = isObject(schema['properties']) ? schema['properties'] : {}
  const patterns = isObject(schema['patternProperties']) ? Object.keys(schema['patternProperties']).map(getMatcher) : []
  return ofObjects((object, place, run, outcome) => {
    for (const name of Object.keys(object)) {
      run.spend(1 + patterns.length)
      if (Object.hasOwn(known, name) || patterns.some((matches) => matches(name, run.steps))) continue
      if (outcome.isFull) return
      if (value === false) outcome.add(getUnknownField(name, Object.keys(known), place))
      else checkField(value, name, place, run, outcome)
    }
  })
}

/** Reports a field that no part of the schema knows. */
export function getUnknownField(name: string, known: readonly string[], place: Place): Parameters<Outcome['add']>[0] {
  return {
    place,
    field: name,
    keyword: 'unknown',
    describe: () => describeUnknownField(name, known, formatPath(place.getPath())),
  }
}

const propertyNames: Keyword = (value) =>
  ofObjects((object, place, run, outcome) => {
    for (const name of Object.keys(object)) {
      if (outcome.isFull) return
      const [issue] = run.evaluate(value, place.at(`${name} (name)`, name)).issues
      if (issue)
        outcome.add({
          place,
          field: name,
          keyword: 'propertyNames',
          describe: () => `cannot be the name of a field here: it ${issue.describe()}`,
        })
    }
  })

const requireNames: Keyword = (names) => {
  if (!Array.isArray(names)) return undefined
  const all = names.filter((name): name is string => typeof name === 'string')
  return ofObjects((object, place, run, outcome) => {
    for (const name of all) {
      run.spend()
      if (outcome.isFull) return
      if (!Object.hasOwn(object, name))
        outcome.add({ place, field: name, keyword: 'required', describe: () => 'is required' })
    }
  })
}

const dependentRequired: Keyword = (value) => {
  if (!isObject(value)) return undefined
  return ofObjects((object, place, run, outcome) => {
    for (const name of Object.keys(object)) {
      run.spend()
      if (outcome.isFull) return
      const needed = Object.hasOwn(value, name) ? value[name] : undefined
      if (Array.isArray(needed)) requireAll(needed, name, { object, place, run, outcome })
    }
  })
}

interface ObjectCheck {
  readonly object: SchemaObject
  readonly place: Place
  readonly run: Run
  readonly outcome: Outcome
}

function requireAll(needed: readonly unknown[], name: string, { object, place, run, outcome }: ObjectCheck): void {
  for (const other of needed) {
    run.spend()
    if (typeof other !== 'string' || Object.hasOwn(object, other)) continue
    const describe = (): string => `is required where ${showName(name)} is given`
    outcome.add({ place, field: other, keyword: 'required', describe })
  }
}

const dependentSchemas: Keyword = (value) => {
  if (!isObject(value)) return undefined
  return ofObjects((object, place, run, outcome) => {
    for (const name of Object.keys(object)) {
      run.spend()
      const schema = Object.hasOwn(value, name) ? value[name] : undefined
      if (schema !== undefined && !Array.isArray(schema)) outcome.merge(run.evaluate(schema, place))
    }
  })
}

/** A keyword of older drafts, which mixes lists of names and schemas. */
const dependencies: Keyword = (value, schema, document) => {
  const names = dependentRequired(value, schema, document)
  const schemas = dependentSchemas(value, schema, document)
  return (place, run, outcome) => {
    names?.(place, run, outcome)
    schemas?.(place, run, outcome)
  }
}

function fieldCount(isTooFar: (count: number, limit: number) => boolean, words: string): Keyword {
  return (limit) => {
    if (typeof limit !== 'number') return undefined
    return ofObjects((object, place, _run, outcome) => {
      if (isTooFar(Object.keys(object).length, limit))
        outcome.add({
          place,
          keyword: 'size',
          describe: () => shorten(`must have ${words} ${formatCount(limit, 'field')}`),
        })
    })
  }
}

/** Comes after all other keywords. */
export const checkUnevaluatedProperties: Keyword = (value, schema) => (place, run, outcome) => {
  if (!isObject(place.value) || outcome.fields === 'all') return
  const seen = outcome.fields
  const known = isObject(schema['properties']) ? Object.keys(schema['properties']) : []
  for (const name of Object.keys(place.value)) {
    run.spend()
    if (outcome.isFull || seen?.has(name)) continue
    if (value === false) outcome.add(getUnknownField(name, known, place))
    else for (const issue of run.evaluate(value, place.at(name, place.value[name])).issues) outcome.add(issue)
  }
  outcome.fields = 'all'
}

export const OBJECT_KEYWORDS: readonly (readonly [string, Keyword])[] = [
  ['required', requireNames],
  ['properties', properties],
  ['patternProperties', patternProperties],
  ['additionalProperties', additionalProperties],
  ['propertyNames', propertyNames],
  ['dependentRequired', dependentRequired],
  ['dependentSchemas', dependentSchemas],
  ['dependencies', dependencies],
  ['minProperties', fieldCount((count, limit) => count < limit, 'at least')],
  ['maxProperties', fieldCount((count, limit) => count > limit, 'at most')],
]
