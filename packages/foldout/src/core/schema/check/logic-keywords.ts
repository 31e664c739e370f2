import type { Keyword, CheckIssue, Outcome, Place } from './run.ts'
import { formatCount } from '../../text.ts'
import { describeKinds, describeValues, type Kind } from './wording.ts'

const reference: Keyword = (value, schema, document) => {
  if (typeof value !== 'string') return undefined
  return (place, run, outcome) => {
    const target = document.resolve(schema, value)
    // A missing target checks nothing; it is reported when the schema itself is examined.
    if (target !== undefined) outcome.merge(run.evaluate(target, place))
  }
}

const dynamicReference: Keyword = (value, schema, document) => {
  if (typeof value !== 'string') return undefined
  return (place, run, outcome) => {
    const target = document.resolveDynamic(schema, value, run.getScope())
    if (target !== undefined) outcome.merge(run.evaluate(target, place))
  }
}

const allOf: Keyword = (value) => {
  if (!Array.isArray(value)) return undefined
  return (place, run, outcome) => {
    for (const schema of value as readonly unknown[]) outcome.merge(run.evaluate(schema, place))
  }
}

const anyOf: Keyword = (value, _schema, document) => {
  if (!Array.isArray(value)) return undefined
  const schemas: readonly unknown[] = value
  return (place, run, outcome) => {
    const failed: Outcome[] = []
    let isFit = false
    for (const schema of schemas) {
      const branch = run.evaluate(schema, place)
      if (branch.issues.length > 0) {
        failed.push(branch)
        continue
      }
      isFit = true
      outcome.mergeEvaluated(branch)
      // The other branches only matter if a keyword needs to know which fields they evaluate.
      if (!document.hasUnevaluated) return
    }
    if (!isFit) addNearest(failed, schemas, place, outcome)
  }
}

const oneOf: Keyword = (value) => {
  if (!Array.isArray(value)) return undefined
  const schemas: readonly unknown[] = value
  return (place, run, outcome) => {
    const outcomes = schemas.map((schema) => run.evaluate(schema, place))
    const fits = outcomes.filter((branch) => branch.issues.length === 0)
    const [only] = fits
    if (fits.length === 1 && only) outcome.mergeEvaluated(only)
    else if (fits.length === 0) addNearest(outcomes, schemas, place, outcome)
    else
      outcome.add({
        place,
        keyword: 'oneOf',
        describe: () =>
          `must fit exactly one of the ${formatCount(schemas.length, 'alternative')} in its schema, and fits ${fits.length}`,
      })
  }
}

/** Reports the issues of the nearest alternative, or the combined requirement of all alternatives. */
function addNearest(failed: readonly Outcome[], schemas: readonly unknown[], place: Place, outcome: Outcome): void {
  const together = getKinds(failed, place)
  if (together) {
    outcome.add({ place, keyword: 'type', kinds: together, describe: () => describeKinds(together, place.value) })
    return
  }
  const values = getValues(failed, schemas, place)
  if (values) {
    outcome.add({ place, keyword: 'enum', describe: () => describeValues(values) })
    return
  }
  let best: readonly CheckIssue[] = []
  let bestScore = Infinity
  for (const { issues } of failed) {
    const score = getDistance(issues, place)
    if (score >= bestScore) continue
    best = issues
    bestScore = score
  }
  if (best.length === 0) outcome.add({ place, keyword: 'anyOf', describe: () => 'has no value that is allowed' })
  for (const issue of best) outcome.add(issue)
}

/** The kinds that all alternatives accept together, if the kind is wrong in each of them. */
function getKinds(failed: readonly Outcome[], place: Place): readonly Kind[] | undefined {
  const kinds = new Set<Kind>()
  for (const { issues } of failed) {
    const wrongKind = issues.find((issue) => issue.place === place && issue.kinds)
    if (!wrongKind?.kinds) return undefined
    for (const kind of wrongKind.kinds) kinds.add(kind)
  }
  if (kinds.size === 0) return undefined
  return [...kinds]
}

/** The values that all alternatives list together, if each of them lists some. */
function getValues(
  failed: readonly Outcome[],
  schemas: readonly unknown[],
  place: Place,
): readonly unknown[] | undefined {
  const isListed = failed.every(({ issues }) =>
    issues.some((issue) => issue.place === place && issue.keyword === 'enum'),
  )
  if (!isListed) return undefined
  const values = schemas.flatMap((schema): readonly unknown[] => {
    const { enum: list, const: one } = schema as { readonly enum?: unknown; readonly const?: unknown }
    if (Array.isArray(list)) return list as unknown[]
    return [one]
  })
  if (values.includes(undefined)) return undefined
  return values
}

/**
 * How far a value is from an alternative: a wrong kind, or a wrong fixed value such as a tag, means that another
 * alternative was meant.
 */
function getDistance(issues: readonly CheckIssue[], place: Place): number {
  let distance = 0
  for (const issue of issues) {
    if (issue.place === place && issue.kinds) distance += 10_000
    else if (issue.place.parent === place && issue.keyword === 'enum') distance += 100
    else distance += 1
  }
  return distance
}

const not: Keyword = (value) => (place, run, outcome) => {
  if (run.evaluate(value, place).issues.length === 0)
    outcome.add({ place, keyword: 'not', describe: () => 'has a value that its schema excludes' })
}

const condition: Keyword = (value, schema) => (place, run, outcome) => {
  const asked = run.evaluate(value, place)
  const isTrue = asked.issues.length === 0
  if (isTrue) outcome.mergeEvaluated(asked)
  const branch = isTrue ? 'then' : 'else'
  if (Object.hasOwn(schema, branch)) outcome.merge(run.evaluate(schema[branch], place))
}

export const REFERENCE_KEYWORDS: readonly (readonly [string, Keyword])[] = [
  ['$ref', reference],
  ['$dynamicRef', dynamicReference],
]

export const LOGIC_KEYWORDS: readonly (readonly [string, Keyword])[] = [
  ['allOf', allOf],
  ['anyOf', anyOf],
  ['oneOf', oneOf],
  ['not', not],
  ['if', condition],
]
