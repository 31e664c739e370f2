import { isObject } from 'foldout-shared/values'
import { resolvePointer } from '../../json/json-pointer.ts'

export type SchemaObject = Readonly<Record<string, unknown>>

/** Where the value of a keyword contains schemas: the value itself, the items of a list, or the values of an object. */
export type Holds = 'one' | 'many' | 'named'

const HOLDS: ReadonlyMap<string, Holds> = new Map(
  (
    [
      ['one', 'items additionalItems unevaluatedItems contains additionalProperties unevaluatedProperties'],
      ['one', 'propertyNames not if then else contentSchema'],
      ['many', 'allOf anyOf oneOf prefixItems'],
      ['named', 'properties patternProperties $defs definitions dependentSchemas dependencies'],
    ] as const
  ).flatMap(([holds, keywords]) => keywords.split(' ').map((keyword) => [keyword, holds] as const)),
)

export function getHolds(keyword: string, value: unknown): Holds | undefined {
  // A list of items is the older form of a tuple.
  if (keyword === 'items' && Array.isArray(value)) return 'many'
  return HOLDS.get(keyword)
}

/** Lists the direct subschemas of a schema, each with its keyword and its name or index there. */
export function* getSubschemas(
  schema: SchemaObject,
): Generator<{ readonly keyword: string; readonly name: string | undefined; readonly part: unknown }> {
  for (const keyword of Object.keys(schema)) {
    const value = schema[keyword]
    const holds = getHolds(keyword, value)
    if (holds === 'one') yield { keyword, name: undefined, part: value }
    else if ((holds === 'many' && Array.isArray(value)) || (holds === 'named' && isObject(value)))
      for (const [name, part] of Object.entries(value))
        // A list among the older `dependencies` names fields and is not a schema.
        if (keyword !== 'dependencies' || !Array.isArray(part)) yield { keyword, name, part }
  }
}

// Nothing is fetched from here; it is only the base of relative references.
const DEFAULT_BASE = 'https://schema.invalid/'

/** A schema and the targets of its references, collected in one walk. */
export class SchemaDocument {
  /** Whether some parts can be reached in more than one way. */
  hasReferences = false
  /** Whether a reference depends on the path by which it was reached. */
  hasDynamicReferences = false
  /** Whether some keyword depends on which fields or items others have evaluated. */
  hasUnevaluated = false
  /** Whether the schema uses a draft in which `$ref` replaces its sibling keywords. */
  readonly isLegacy: boolean

  private readonly resources = new Map<string, SchemaObject>()
  private readonly anchors = new Map<string, SchemaObject>()
  private readonly dynamicAnchors = new Map<string, SchemaObject>()
  private readonly bases = new Map<SchemaObject, string>()
  private readonly targets = new Map<string, unknown>()

  readonly root: unknown

  constructor(root: unknown) {
    this.root = root
    const version = isObject(root) ? root['$schema'] : undefined
    this.isLegacy = typeof version === 'string' && /draft-0[3-7]/.test(version)
    if (isObject(root)) this.index(root)
  }

  getBase(schema: SchemaObject): string {
    return this.bases.get(schema) ?? DEFAULT_BASE
  }

  /** Resolves a reference in a schema, or returns `undefined` if the target does not exist. */
  resolve(schema: SchemaObject, reference: string): unknown {
    const base = this.getBase(schema)
    const key = `${base} ${reference}`
    if (!this.targets.has(key)) this.targets.set(key, this.find(base, reference))
    return this.targets.get(key)
  }

  /** Resolves a dynamic reference: to the outermost schema on the path that has its anchor. */
  resolveDynamic(schema: SchemaObject, reference: string, scope: readonly string[]): unknown {
    const target = this.resolve(schema, reference)
    const name = reference.slice(reference.indexOf('#') + 1)
    if (!isObject(target) || target['$dynamicAnchor'] !== name) return target
    for (const base of scope) {
      const found = this.dynamicAnchors.get(`${base}#${name}`)
      if (found) return found
    }
    return target
  }

  private index(root: SchemaObject): void {
    const open: { readonly schema: SchemaObject; readonly base: string }[] = [{ schema: root, base: DEFAULT_BASE }]
    const seen = new Set<unknown>()
    this.resources.set(DEFAULT_BASE, root)
    for (let next = open.pop(); next; next = open.pop()) {
      const { schema } = next
      if (seen.has(schema)) {
        this.hasReferences = true
        continue
      }
      seen.add(schema)
      const base = this.enter(schema, next.base)
      for (const { part } of getSubschemas(schema)) if (isObject(part)) open.push({ schema: part, base })
    }
  }

  private enter(schema: SchemaObject, outerBase: string): string {
    const { $id: id, $anchor: anchor, $dynamicAnchor: dynamicAnchor } = schema
    const isReplaced = this.isLegacy && '$ref' in schema
    const base = typeof id === 'string' && !isReplaced ? withoutFragment(toAbsolute(id, outerBase)) : outerBase
    if (typeof id === 'string' && !isReplaced) {
      this.resources.set(base, schema)
      // In older drafts, an id that is only a fragment defines an anchor.
      if (this.isLegacy && id.startsWith('#')) this.anchors.set(`${base}${id}`, schema)
    }
    if (base !== DEFAULT_BASE) this.bases.set(schema, base)
    if (typeof anchor === 'string') this.anchors.set(`${base}#${anchor}`, schema)
    if (typeof dynamicAnchor === 'string') {
      this.anchors.set(`${base}#${dynamicAnchor}`, schema)
      this.dynamicAnchors.set(`${base}#${dynamicAnchor}`, schema)
    }
    if ('$ref' in schema) this.hasReferences = true
    if ('$dynamicRef' in schema) this.hasDynamicReferences = true
    if ('unevaluatedProperties' in schema || 'unevaluatedItems' in schema) this.hasUnevaluated = true
    return base
  }

  private find(base: string, reference: string): unknown {
    const absolute = reference.startsWith('#') ? `${base}${reference}` : toAbsolute(reference, base)
    const at = absolute.indexOf('#')
    const resource = this.resources.get(at === -1 ? absolute : absolute.slice(0, at))
    const fragment = at === -1 ? '' : absolute.slice(at + 1)
    if (resource === undefined) return undefined
    if (fragment === '') return resource
    if (!fragment.startsWith('/')) return this.anchors.get(absolute)
    const found = resolvePointer(resource, `#${fragment}`)
    if (isObject(found) && !this.bases.has(found) && base !== DEFAULT_BASE) this.bases.set(found, base)
    return found
  }
}

function toAbsolute(reference: string, base: string): string {
  try {
    return new URL(reference, base).href
  } catch {
    return reference
  }
}

function withoutFragment(uri: string): string {
  const at = uri.indexOf('#')
  if (at === -1) return uri
  return uri.slice(0, at)
}
