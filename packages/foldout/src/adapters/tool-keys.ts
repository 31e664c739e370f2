import { isObject } from 'foldout-shared/values'
import type { JsonSchema } from '../core/schema/schema.ts'
import { toWellFormed } from '../core/well-formed.ts'
import type { AnyTool } from '../tools/tool.ts'
import type { AssistantMessage, Message, ToolCall } from './contract.ts'
import { toToolParameters } from './tool-schemas.ts'

// Anthropic rejects every request with a tool whose params have other names, such as `filter[id]` or `$top`.
const ACCEPTED_KEY = /^[a-zA-Z0-9_.-]{1,64}$/
const MAX_KEY_CHARACTERS = 64

/** The params of a tool as well-formed text, under names that every provider accepts. */
interface SentKeys {
  readonly schema: JsonSchema
  /** The names that were changed: from the name that is sent to the tool's own name. */
  readonly toOwn: ReadonlyMap<string, string>
  readonly toSent: ReadonlyMap<string, string>
}

// A tool's schema is the same object in every request.
const known = new WeakMap<JsonSchema, SentKeys | 'unchanged'>()

function getSentKeys(schema: JsonSchema): SentKeys | undefined {
  let keys = known.get(schema)
  if (keys === undefined) known.set(schema, (keys = createSentKeys(schema) ?? 'unchanged'))
  if (keys === 'unchanged') return undefined
  return keys
}

function createSentKeys(schema: JsonSchema): SentKeys | undefined {
  const parameters = toToolParameters(schema, 'anthropic')
  const { properties } = parameters
  const own = isObject(properties) ? Object.keys(properties) : []
  const toSent = chooseNames(own)
  const renamed = toSent.size === 0 ? parameters : renameProperties(parameters, toSent)
  const sent = toWellFormed(renamed)
  if (sent === parameters) return undefined
  const toOwn = new Map([...toSent].map(([name, accepted]) => [accepted, name]))
  return { schema: sent, toOwn, toSent }
}

/** Chooses a name for each that is not accepted. The same names always give the same result. */
function chooseNames(own: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set(own)
  const chosen = new Map<string, string>()
  for (const name of own) {
    if (ACCEPTED_KEY.test(name)) continue
    const base = name.replace(/[^a-zA-Z0-9_.-]/g, '_').slice(0, MAX_KEY_CHARACTERS) || '_'
    let sent = base
    for (let count = 2; taken.has(sent); count++) {
      const suffix = `_${count}`
      sent = base.slice(0, MAX_KEY_CHARACTERS - suffix.length) + suffix
    }
    taken.add(sent)
    chosen.set(name, sent)
  }
  return chosen
}

function renameProperties(schema: JsonSchema, toSent: ReadonlyMap<string, string>): JsonSchema {
  const { properties, required, dependencies: _, dependentRequired: _1, dependentSchemas: _2, ...rest } = schema
  const entries = Object.entries(isObject(properties) ? properties : {}).map(([name, value]) => {
    const sent = toSent.get(name)
    if (sent === undefined) return [name, value]
    return [sent, withOwnName(value, name)]
  })
  const names = Array.isArray(required) ? (required as readonly string[]).map((name) => toSent.get(name) ?? name) : []
  return {
    ...rest,
    properties: Object.fromEntries(entries) as JsonSchema,
    ...(names.length > 0 && { required: names }),
  }
}

/** The name says what a param means, so the model reads it as well. */
function withOwnName(schema: unknown, name: string): unknown {
  if (!isObject(schema)) return schema
  const { description } = schema
  const named = `The field '${name.slice(0, MAX_OWN_NAME_CHARACTERS)}'.`
  return { ...schema, description: typeof description === 'string' ? `${named} ${description}` : named }
}

const MAX_OWN_NAME_CHARACTERS = 200

/** Returns a tool as a provider gets it: with text and with names of params that every provider accepts. */
export function toSentTool(tool: AnyTool): AnyTool {
  const keys = getSentKeys(tool.inputSchema)
  const isSame = keys === undefined && tool.description.isWellFormed()
  if (isSame) return tool
  return { ...tool, description: tool.description.toWellFormed(), inputSchema: keys?.schema ?? tool.inputSchema }
}

/** Gives the arguments of a call the names that the tool knows. */
export function toOwnArguments(args: unknown, tool: AnyTool | undefined): unknown {
  if (tool === undefined) return args
  return renameKeys(args, getSentKeys(tool.inputSchema)?.toOwn)
}

/** Gives the arguments of a call the names that the model was given. */
function toSentArguments(args: unknown, tool: AnyTool | undefined): unknown {
  if (tool === undefined) return args
  return renameKeys(args, getSentKeys(tool.inputSchema)?.toSent)
}

function renameKeys(args: unknown, names: ReadonlyMap<string, string> | undefined): unknown {
  if (names === undefined || !isObject(args)) return args
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [names.get(name) ?? name, value]))
}

/** The tools of a conversation, by name. */
type ToolsByName = ReadonlyMap<string, AnyTool>

/** Gives the calls of a reply the names that the tools know, so a stored conversation does not depend on a provider. */
export function withOwnKeys(message: AssistantMessage, tools: ToolsByName): AssistantMessage {
  return renameCalls(message, ({ arguments: args, name }) => toOwnArguments(args, tools.get(name)))
}

/** Gives the calls of a conversation the names that the model was given. */
export function withSentKeys(messages: readonly Message[], tools: ToolsByName): readonly Message[] {
  const changed = [...tools.values()].filter((tool) => getSentKeys(tool.inputSchema) !== undefined)
  if (changed.length === 0) return messages
  return messages.map((message) => {
    if (message.role !== 'assistant') return message
    return renameCalls(message, ({ arguments: args, name }) => toSentArguments(args, tools.get(name)))
  })
}

function renameCalls(message: AssistantMessage, rename: (call: ToolCall) => unknown): AssistantMessage {
  const toolCalls = message.toolCalls.map((call): ToolCall => {
    const renamed = rename(call)
    if (renamed === call.arguments) return call
    return { ...call, arguments: renamed }
  })
  const isSame = toolCalls.every((call, index) => call === message.toolCalls[index])
  if (isSame) return message
  return { ...message, toolCalls }
}
