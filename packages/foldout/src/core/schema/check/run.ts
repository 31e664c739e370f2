import type { SchemaDocument, SchemaObject } from './document.ts'
import type { Steps } from '../../pattern/pattern.ts'
import { isObject } from 'foldout-shared/values'
import { MAX_CHECK_DEPTH, MAX_ISSUES } from './limits.ts'
import type { Kind } from './wording.ts'

/** A value and its place in the whole value. */
export class Place {
  // Created when needed: most values are small, and most schemas have no references.
  private outcomes: Map<SchemaNode, Outcome> | undefined
  private inside: Map<string | number, Place> | undefined

  readonly value: unknown
  readonly parent: Place | undefined
  readonly key: string | number

  constructor(value: unknown, parent?: Place, key: string | number = '') {
    this.value = value
    this.parent = parent
    this.key = key
  }

  /**
   * Returns the place of a field or an item. Objects and arrays get the same place each time, so outcomes can be
   * shared.
   */
  at(key: string | number, value: unknown): Place {
    if (typeof value !== 'object' || value === null) return new Place(value, this, key)
    this.inside ??= new Map()
    let place = this.inside.get(key)
    if (!place) this.inside.set(key, (place = new Place(value, this, key)))
    return place
  }

  /** The outcome of a schema at this place, if it is known. */
  recall(node: SchemaNode): Outcome | undefined {
    return this.outcomes?.get(node)
  }

  remember(node: SchemaNode, outcome: Outcome): void {
    this.outcomes ??= new Map()
    this.outcomes.set(node, outcome)
  }

  getPath(): (string | number)[] {
    if (!this.parent) return []
    const path = [this.key]
    for (let place = this.parent; place.parent; place = place.parent) path.push(place.key)
    return path.toReversed()
  }
}

/** One issue. Its message is built on demand, because most issues of alternatives are never shown. */
export interface CheckIssue {
  readonly place: Place
  /** The field of the place that the issue is about, if any. */
  readonly field?: string
  readonly keyword: string
  /** The valid kinds of values, if the kind is wrong. */
  readonly kinds?: readonly Kind[]
  describe(): string
}

/** The result of checking one place against one schema. */
export class Outcome {
  readonly issues: CheckIssue[] = []
  /** The fields that some keyword has evaluated, or 'all'. */
  fields: Set<string> | 'all' | undefined
  /** How many leading items some keyword has evaluated, and which later ones. */
  items = 0
  private moreItems: Set<number> | undefined

  add(issue: CheckIssue): void {
    if (this.issues.length < MAX_ISSUES) this.issues.push(issue)
  }

  get isFull(): boolean {
    return this.issues.length >= MAX_ISSUES
  }

  /** Adds the results of another schema for the same place. */
  merge(other: Outcome): void {
    for (const issue of other.issues) this.add(issue)
    if (other.issues.length === 0) this.mergeEvaluated(other)
  }

  mergeEvaluated(other: Outcome): void {
    if (other.fields === 'all') this.fields = 'all'
    else if (other.fields) for (const field of other.fields) this.markField(field)
    this.items = Math.max(this.items, other.items)
    for (const index of other.moreItems ?? []) this.markItem(index)
  }

  markItem(index: number): void {
    this.moreItems ??= new Set()
    this.moreItems.add(index)
  }

  hasItem(index: number): boolean {
    return index < this.items || this.moreItems?.has(index) === true
  }

  markField(name: string): void {
    if (this.fields === 'all') return
    this.fields ??= new Set()
    this.fields.add(name)
  }
}

const VALID = new Outcome()
Object.freeze(VALID)

/** Thrown if a value or its schema is nested too deeply to be checked. */
export class TooDeep extends Error {}
/** Thrown if a check takes too many steps. */
export class TooLong extends Error {}

/** One check of one value. */
export class Run {
  private madeIdentities: Identities | undefined
  private depth = 0
  private readonly scope: string[] = []

  readonly document: SchemaDocument
  private readonly getNode: (schema: SchemaObject) => SchemaNode
  readonly steps: Steps

  constructor(document: SchemaDocument, getNode: (schema: SchemaObject) => SchemaNode, steps: Steps) {
    this.document = document
    this.getNode = getNode
    this.steps = steps
  }

  get identities(): Identities {
    return (this.madeIdentities ??= new Identities())
  }

  /** Counts steps, and ends the check if there are too many. */
  spend(count = 1): void {
    this.steps.left -= count
    if (this.steps.left < 0) throw new TooLong()
  }

  getScope(): readonly string[] {
    return this.scope
  }

  evaluate(schema: unknown, place: Place): Outcome {
    this.spend()
    if (schema === false) return refuse(place)
    if (!isObject(schema)) return VALID
    const node = this.getNode(schema)
    const { hasReferences, hasDynamicReferences } = this.document
    const isRemembered = hasReferences && !hasDynamicReferences
    const known = isRemembered ? place.recall(node) : undefined
    if (known) return known
    // A schema that refers back to itself at the same place adds nothing.
    if (isRemembered) place.remember(node, VALID)
    const outcome = this.check(node, place)
    if (isRemembered) place.remember(node, outcome)
    return outcome
  }

  private check(node: SchemaNode, place: Place): Outcome {
    this.depth += 1
    if (this.depth > MAX_CHECK_DEPTH) throw new TooDeep()
    const isNewScope = this.scope.at(-1) !== node.base
    if (isNewScope) this.scope.push(node.base)
    const outcome = new Outcome()
    for (const check of node.checks) check(place, this, outcome)
    if (isNewScope) this.scope.pop()
    this.depth -= 1
    return outcome
  }
}

function refuse(place: Place): Outcome {
  const outcome = new Outcome()
  outcome.add({ place, keyword: 'false', describe: () => 'is not allowed' })
  return outcome
}

/** Assigns equal keys to equal JSON values. Visits each object and array once, without recursion. */
class Identities {
  private readonly known = new Map<object, string>()
  private readonly numbers = new Map<string, number>()

  getKey(value: unknown): string {
    if (typeof value !== 'object' || value === null) return `${typeof value} ${String(value)}`
    const open: object[] = [value]
    for (let next = open.at(-1); next; next = open.at(-1)) {
      const inside = Object.values(next).filter(
        (inner): inner is object => typeof inner === 'object' && inner !== null && !this.known.has(inner),
      )
      if (inside.length > 0 && !this.known.has(next)) {
        // Marked first, so a value that contains itself terminates.
        this.known.set(next, 'cycle')
        open.push(...inside.slice(0, MAX_PUSHED))
        if (inside.length > MAX_PUSHED) for (const one of inside.slice(MAX_PUSHED)) open.push(one)
      } else {
        open.pop()
        this.known.set(next, this.number(next))
      }
    }
    return this.known.get(value) ?? ''
  }

  private number(value: object): string {
    const shape = this.getShape(value)
    let number = this.numbers.get(shape)
    if (number === undefined) this.numbers.set(shape, (number = this.numbers.size))
    return `object ${number}`
  }

  private getShape(value: object): string {
    if (Array.isArray(value)) return `[${value.map((inner) => JSON.stringify(this.shallowKey(inner))).join()}]`
    const fields = Object.entries(value).map(
      ([name, inner]) => `${JSON.stringify(name)}:${JSON.stringify(this.shallowKey(inner))}`,
    )
    return `{${fields.sort().join()}}`
  }

  private shallowKey(value: unknown): string {
    if (typeof value !== 'object' || value === null) return `${typeof value} ${String(value)}`
    return this.known.get(value) ?? ''
  }
}

// JavaScript engines limit the number of arguments of a call.
const MAX_PUSHED = 1_000

/** Checks one place, and adds its issues to the outcome. */
export type Check = (place: Place, run: Run, outcome: Outcome) => void

/** Compiles the check of a keyword, or returns `undefined` if its value is invalid. */
export type Keyword = (value: unknown, schema: SchemaObject, document: SchemaDocument) => Check | undefined

/** A compiled schema. */
export interface SchemaNode {
  readonly base: string
  readonly checks: readonly Check[]
}
