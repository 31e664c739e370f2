import { Validator, type Schema } from '@cfworker/json-schema'

const schema = { $ref: '#' }
const schemas = { type: 'array', minItems: 1, items: schema }
const byName = { type: 'object', additionalProperties: schema }
const text = { type: 'string' }
const flag = { type: 'boolean' }
const number = { type: 'number' }
const count = { type: 'integer', minimum: 0 }
const names = { type: 'array', items: text, uniqueItems: true }
const simpleType = { enum: ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'] }

/** The meta-schema of draft 2020-12, as far as it restricts values, in one document. */
const META: unknown = {
  type: ['object', 'boolean'],
  properties: {
    $id: text,
    $ref: text,
    $schema: text,
    $comment: text,
    $defs: byName,
    definitions: byName,
    allOf: schemas,
    anyOf: schemas,
    oneOf: schemas,
    prefixItems: schemas,
    items: schema,
    contains: schema,
    additionalProperties: schema,
    properties: byName,
    patternProperties: byName,
    dependentSchemas: byName,
    propertyNames: schema,
    ...Object.fromEntries(['if', 'then', 'else'].map((keyword) => [keyword, schema])),
    not: schema,
    unevaluatedItems: schema,
    unevaluatedProperties: schema,
    type: { anyOf: [simpleType, { type: 'array', items: simpleType, minItems: 1, uniqueItems: true }] },
    enum: { type: 'array' },
    multipleOf: { type: 'number', exclusiveMinimum: 0 },
    maximum: number,
    exclusiveMaximum: number,
    minimum: number,
    exclusiveMinimum: number,
    maxLength: count,
    minLength: count,
    pattern: text,
    maxItems: count,
    minItems: count,
    uniqueItems: flag,
    maxContains: count,
    minContains: count,
    maxProperties: count,
    minProperties: count,
    required: names,
    dependentRequired: { type: 'object', additionalProperties: names },
    title: text,
    description: text,
    deprecated: flag,
    readOnly: flag,
    writeOnly: flag,
    examples: { type: 'array' },
    format: text,
  },
}

const validator = new Validator(META as Schema, '2020-12')

/** Says what is wrong with a schema according to draft 2020-12. */
export function findSchemaFaults(given: unknown): readonly string[] {
  const { valid, errors } = validator.validate(given)
  return valid ? [] : errors.map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`)
}
