import type { JsonSchema } from 'foldout'
import { dropUndefined, isObject, type JsonObject } from 'foldout-shared/values'
import type { ParameterOverride, ServerToolOverride } from '../config/definition.ts'
import type { ToolDefinition } from '../model/snapshot.ts'

/** A tool with its overrides applied; undefined if it is hidden. */
export function applyOverride(
  tool: ToolDefinition,
  override: ServerToolOverride | undefined,
): ToolDefinition | undefined {
  if (!override) return tool
  const { hide, parameters, timeoutSeconds: _, maxConcurrent: __, maxResultBytes: ___, ...changes } = override
  if (hide) return undefined
  const changed = { ...tool, ...changes }
  if (!parameters) return changed
  const inputSchema = changeSchema(tool.inputSchema ?? { type: 'object' }, new Map(Object.entries(parameters)))
  return { ...changed, inputSchema }
}

/** Creates a function that adds the arguments that the configuration fixes, or gives by default. */
export function createCompletion(override: ServerToolOverride | undefined): (args: JsonObject) => JsonObject {
  if (!override?.parameters) return (args) => args
  const parameters = new Map(Object.entries(override.parameters))
  const fixed = pick(parameters, 'fixed')
  const defaults = pick(parameters, 'default')
  return (args) => ({ ...defaults, ...args, ...fixed })
}

function pick(parameters: ReadonlyMap<string, ParameterOverride>, field: 'fixed' | 'default') {
  const found = [...parameters].filter(([, parameter]) => parameter[field] !== undefined)
  return Object.fromEntries(found.map(([name, parameter]) => [name, parameter[field]]))
}

function changeSchema(schema: JsonSchema, parameters: ReadonlyMap<string, ParameterOverride>): JsonSchema {
  const { properties, required } = schema as { readonly properties?: unknown; readonly required?: unknown }
  const isOptional = (name: string): boolean => {
    const parameter = parameters.get(name)
    return parameter?.fixed !== undefined || parameter?.default !== undefined
  }
  return {
    ...schema,
    properties: changeProperties(isObject(properties) ? properties : {}, parameters),
    ...(Array.isArray(required) && { required: required.filter((name: string) => !isOptional(name)) }),
  }
}

function changeProperties(
  properties: Readonly<Record<string, unknown>>,
  parameters: ReadonlyMap<string, ParameterOverride>,
) {
  const changed = Object.entries(properties).flatMap(([name, property]) => {
    const parameter = parameters.get(name)
    if (!parameter) return [[name, property]]
    const { fixed, default: fallback, description } = parameter
    if (fixed !== undefined) return []
    const change = dropUndefined({ default: fallback, description })
    return [[name, isObject(property) ? { ...property, ...change } : property]]
  })
  return Object.fromEntries(changed) as Readonly<Record<string, unknown>>
}
