import { isObject } from 'foldout-shared/values'
import { shorten } from '../../core/text.ts'
import { fieldName, literal } from './schema/literal.ts'
import { alternativesAt, getSchemaView, type SchemaView } from './schema/schema-view.ts'
import { listAt } from '../../core/schema/shape.ts'

const RULE_KEYWORDS = new Set(['required', 'type', 'title', 'description', 'not', '$comment'])

/** Whether a branch only says which fields are required. */
export function isRule(branch: unknown): boolean {
  if (!isObject(branch)) return false
  return namesRequired(branch).length > 0 && Object.keys(branch).every((keyword) => RULE_KEYWORDS.has(keyword))
}

function namesRequired(schema: unknown): readonly string[] {
  if (!isObject(schema)) return []
  return listAt(schema, 'required').filter((name): name is string => typeof name === 'string')
}

const MAX_RULES = 4
/** How many choices, values or names one rule lists. */
const MAX_NAMED = 8
/** The maximum length of a rule, in characters; a signature has more to say. */
const MAX_RULE_LENGTH = 200

/** Formats the rules of an object beyond the types of its fields: `one of: id, name+city`. */
export function rulesAt(view: SchemaView): readonly string[] {
  const rules = [
    ...choiceRules(view),
    ...view.parts.flatMap((part) => [...dependencyRules(part), ...whenRules(view, part)]),
  ]
  const distinct = [...new Set(rules)].map((rule) => shorten(rule, MAX_RULE_LENGTH))
  if (distinct.length > MAX_RULES) return [...distinct.slice(0, MAX_RULES - 1), 'more in the schema']
  return distinct
}

const together = (names: readonly string[]): string => joinSome(names.map(fieldName), '+')

function joinSome(texts: readonly string[], separator: string): string {
  const more = texts.length - MAX_NAMED
  return [...texts.slice(0, MAX_NAMED), ...(more > 0 ? [`…${more} more`] : [])].join(separator)
}

function choiceRules(view: SchemaView): readonly string[] {
  return alternativesAt(view)
    .filter(({ branches }) => branches.length > 1 && branches.every(isRule))
    .map(({ how, branches }) => {
      const choices = branches.map((branch) => together(namesRequired(branch)))
      return `${how === 'oneOf' ? 'one of' : 'any of'}: ${joinSome(choices, ', ')}`
    })
}

function dependencyRules(part: Readonly<Record<string, unknown>>): readonly string[] {
  return ['dependentRequired', 'dependencies', 'dependentSchemas'].flatMap((keyword) => {
    const given = part[keyword]
    return Object.entries(isObject(given) ? given : {}).flatMap(([name, needs]) => {
      const names = Array.isArray(needs) ? needs.filter((need) => typeof need === 'string') : namesRequired(needs)
      if (names.length === 0) return []
      return [`${fieldName(name)} needs ${together(names)}`]
    })
  })
}

/** Formats `mode="a" needs x` for an `if` that tests values and a `then` that requires fields. */
function whenRules(view: SchemaView, part: Readonly<Record<string, unknown>>): readonly string[] {
  if (!isObject(part['if'])) return []
  const condition = conditionText(view, part['if'])
  const then = namesRequired(part['then'])
  const otherwise = namesRequired(part['else'])
  const isSaid = condition !== undefined && then.length + otherwise.length > 0
  if (!isSaid) return ['conditions in the schema']
  return [
    ...(then.length > 0 ? [`${condition} needs ${together(then)}`] : []),
    ...(otherwise.length > 0 ? [`else needs ${together(otherwise)}`] : []),
  ]
}

function conditionText(view: SchemaView, condition: Readonly<Record<string, unknown>>): string | undefined {
  const properties = isObject(condition['properties']) ? condition['properties'] : {}
  const texts = Object.entries(properties).map(([name, schema]) => {
    const [part] = getSchemaView(view.root, schema).parts
    const values = part && ('const' in part ? [part['const']] : listAt(part, 'enum'))
    if (!values || values.length === 0) return undefined
    const literals = values.map((value) => literal(value) ?? '')
    return `${fieldName(name)}=${joinSome(literals, '|')}`
  })
  const known = texts.filter((text) => text !== undefined)
  if (known.length === 0 || known.length < texts.length) return undefined
  return joinSome(known, ' and ')
}
