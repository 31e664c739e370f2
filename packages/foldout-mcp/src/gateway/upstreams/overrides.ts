import type { JsonSchema } from 'foldout'
import type { RawTool } from 'foldout/catalog'
import { dropUndefined, isObject } from '../fields.ts'
import type { ParameterOverride, ServerToolOverride } from '../config/definition.ts'

/** A tool with its overrides applied; undefined if it is hidden. */
export function applyOverride(tool: RawTool, override: ServerToolOverride | undefined): RawTool | undefined {
  if (!override) return tool
  const { hide, parameters, timeoutSeconds: _, maxConcurrent: __, maxResultBytes: ___, ...changes } = override
  if (hide) return undefined
  const changed = { ...tool, ...changes }
  return parameters ? withParameters(changed, new Map(Object.entries(parameters))) : changed
}

type Arguments = Readonly<Record<string, unknown>>

function withParameters(tool: RawTool, parameters: ReadonlyMap<string, ParameterOverride>): RawTool {
  const { call, inputSchema } = tool
  const complete = createCompletion(parameters)
  return {
    ...tool,
    inputSchema: changeSchema(inputSchema ?? { type: 'object' }, parameters),
    ...(call ? { call: (args, context) => call(complete(args), context) } : {}),
  }
}

function createCompletion(parameters: ReadonlyMap<string, ParameterOverride>): (args: Arguments) => Arguments {
  const fixed = pick(parameters, 'fixed')
  const defaults = pick(parameters, 'default')
  return (args) => ({ ...defaults, ...args, ...fixed })
}

/** The arguments that the server gets, with those that the configuration fixes or adds. */
export function completeArguments({ parameters }: ServerToolOverride, args: Arguments): Arguments {
  if (!parameters) return args
  return createCompletion(new Map(Object.entries(parameters)))(args)
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
    ...(Array.isArray(required) ? { required: required.filter((name: string) => !isOptional(name)) } : {}),
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
