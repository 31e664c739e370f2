import { readFileSync } from 'node:fs'
import { Validator, type Schema } from '@cfworker/json-schema'
import type { AdapterSuiteOptions } from '../../packages/foldout/src/testing/adapter-peer.ts'
import type { RecordedRequest } from './mock.ts'
import { chatRules, messagesRules, responsesRules, toolNameRules, type Rule } from './rules.ts'

/** How to read the requests of one API. */
export type Wire = Required<
  Pick<
    AdapterSuiteOptions<RecordedRequest>,
    'getTools' | 'getResults' | 'getPrefixes' | 'getOutputSchema' | 'sendsOutputSchema' | 'check'
  >
>

/**
 * `native`: tools are added at their place in the conversation; `reference`: there too, by a name whose definition is at the
 * end of the tool list without being loaded; `plain`: at the end of the tool list.
 */
export type Additions = 'native' | 'reference' | 'plain'

// Only the parts of the bodies that are read here; the schemas check them whole.
interface NamedTool {
  readonly name: string
  readonly defer_loading?: boolean
  /** The tools of a namespace. */
  readonly tools?: readonly NamedTool[]
}
interface ChatBody {
  readonly tools?: readonly { readonly function: NamedTool }[]
  readonly messages: readonly { readonly role: string; readonly content: string }[]
  readonly response_format?: { readonly json_schema?: { readonly schema?: unknown } }
}
interface ResponsesBody {
  readonly tools?: readonly NamedTool[]
  readonly input: readonly { readonly type?: string; readonly output?: string; readonly tools?: readonly NamedTool[] }[]
  readonly text?: { readonly format?: { readonly schema?: unknown } }
}
interface MessagesBlock {
  readonly type: string
  readonly content?: string | readonly { readonly text?: string; readonly tool_name?: string }[]
  readonly tool?: { readonly definition?: NamedTool; readonly name?: string }
}
interface MessagesBody {
  readonly tools?: readonly NamedTool[]
  readonly messages: readonly { readonly content: readonly MessagesBlock[] }[]
  readonly output_config?: { readonly format?: { readonly schema?: unknown } }
}

/** `isCompatible`: a server that accepts more than OpenAI, but no format together with tools. */
export function chatWire({ isCompatible = false } = {}): Wire {
  const body = (request: RecordedRequest) => request.body as unknown as ChatBody
  const getTools = (request: RecordedRequest) => (body(request).tools ?? []).map((tool) => tool.function.name)
  return {
    getTools,
    getResults: (request) => body(request).messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : [])),
    getPrefixes: (request) => getPrefixes(request, 'plain', 'messages'),
    getOutputSchema: (request) => body(request).response_format?.json_schema?.schema,
    sendsOutputSchema: isCompatible ? 'without tools' : 'always',
    check: judge('openai-chat', '/v1/chat/completions', chatRules, getTools, isCompatible ? withoutExtras : undefined),
  }
}

/** `toJudged`: the body to check against the types, for clients that send valid fields the types do not have. */
export function responsesWire(additions: Additions, toJudged?: ToJudged): Wire {
  const body = (request: RecordedRequest) => request.body as unknown as ResponsesBody
  const getTools = (request: RecordedRequest) => {
    const { tools = [], input } = body(request)
    return [...tools, ...input.flatMap((item) => item.tools ?? [])]
      .flatMap((tool) => tool.tools ?? [tool])
      .map(({ name }) => name)
  }
  return {
    getTools,
    getResults: (request) =>
      body(request).input.flatMap(({ type, output }) => (type === 'function_call_output' ? [output ?? ''] : [])),
    getPrefixes: (request) => getPrefixes(request, additions, 'input'),
    getOutputSchema: (request) => body(request).text?.format?.schema,
    sendsOutputSchema: 'always',
    check: judge('openai-responses', '/v1/responses', responsesRules, getTools, toJudged),
  }
}

export function messagesWire(additions: Additions): Wire {
  const body = (request: RecordedRequest) => request.body as unknown as MessagesBody
  const blocks = (request: RecordedRequest) => body(request).messages.flatMap(({ content }) => content)
  const getTools = (request: RecordedRequest) => {
    const loaded = (body(request).tools ?? []).filter((tool) => tool.defer_loading !== true)
    const added = blocks(request).flatMap(({ tool, content }) => [
      tool?.definition?.name ?? tool?.name ?? [],
      typeof content === 'string' ? [] : (content ?? []).map(({ tool_name: name }) => name ?? []),
    ])
    return [...loaded.map(({ name }) => name), ...added.flat(2)]
  }
  return {
    getTools,
    getResults: (request) =>
      blocks(request).flatMap(({ type, content = '' }) => (type === 'tool_result' ? [getText(content)] : [])),
    getPrefixes: (request) => getPrefixes(request, additions, 'messages'),
    getOutputSchema: (request) => body(request).output_config?.format?.schema,
    sendsOutputSchema: 'always',
    check: judge('anthropic-messages', '/v1/messages', messagesRules, getTools),
  }
}

function getText(content: NonNullable<MessagesBlock['content']>): string {
  return typeof content === 'string' ? content : content.map(({ text = '' }) => text).join('')
}

/** In the order of the providers' caches: first what all requests must share, then tools, system text, conversation. */
function getPrefixes(
  { body, headers }: RecordedRequest,
  additions: Additions,
  conversation: string,
): readonly string[] {
  const { tools: all, system, instructions, [conversation]: messages, ...others } = body
  // The provider does not show unloaded tools to the model, so they are not part of the cache either.
  const tools = (all as readonly NamedTool[] | undefined)?.filter((tool) => tool.defer_loading !== true)
  // The order of betas has no meaning.
  const shared = said([headers['anthropic-beta']?.split(',').toSorted(), others])
  const rest = `${said([system, instructions])}${open(messages)}`
  return additions !== 'plain' ? [`${shared}${said(tools)}${rest}`] : [`${shared}${open(tools)}`, rest]
}

// Without cache marks, which move along with the conversation.
const said = (value: unknown): string =>
  JSON.stringify(value ?? null, (key, field: unknown) => (key === 'cache_control' ? undefined : field))

/** A list that may continue. */
const open = (list: unknown): string => said(list ?? []).slice(0, -1)

type ToJudged = (body: RecordedRequest['body']) => RecordedRequest['body']

/** Checks requests against the schema generated from the types of the provider's own SDK, and against the rules. */
function judge(
  schemaName: string,
  expectedPath: string,
  rule: Rule,
  getTools: (request: RecordedRequest) => readonly string[],
  toJudged: ToJudged = (body) => body,
): (request: RecordedRequest) => void {
  const text = readFileSync(new URL(`wire-schemas/${schemaName}.json`, import.meta.url), 'utf8')
  const validator = new Validator(JSON.parse(text) as Schema, '7', false)
  return (request) => {
    const { method, path, raw, body } = request
    const { valid, errors } = validator.validate(toJudged(body))
    // The deepest error says most.
    const deepest = errors.toSorted((a, b) => b.instanceLocation.length - a.instanceLocation.length).slice(0, 5)
    const wrong = valid
      ? [...rule(body), ...toolNameRules(getTools(request))]
      : deepest.map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`)
    if (`${method} ${path.split('?')[0]}` !== `POST ${expectedPath}`) wrong.push(`it goes to ${method} ${path}`)
    if (wrong.length > 0) throw new Error(`${schemaName} does not take this:\n${wrong.join('\n')}\n${raw}`)
  }
}

/** Without the fields that compatible servers expect back. */
function withoutExtras(body: RecordedRequest['body']): RecordedRequest['body'] {
  const text = JSON.stringify(body, (key, value: unknown) =>
    key === 'reasoning_content' || key === 'extra_content' ? undefined : value,
  )
  return JSON.parse(text) as RecordedRequest['body']
}

/** Added tools are defined in the text that adds them, and the list of tools never changes. */
export function throughWire(wire: Wire): Wire {
  return {
    ...wire,
    getTools(request) {
      const texts = JSON.stringify(request.body).split('Call with call_tool:').slice(1)
      const defined = texts.flatMap((text) => {
        const [definitions = ''] = text.split(/(?<!\\)"/)
        return [...definitions.matchAll(/\\n(\w+)\(/g)].map(([, name = '']) => name)
      })
      return [...wire.getTools(request).filter((name) => name !== 'call_tool'), ...defined]
    },
    getResults: (request) => wire.getResults(request).map((text) => text.replace(/\n\nCall with call_tool:[^]*/, '')),
    getPrefixes: (request) => [wire.getPrefixes(request).join('')],
  }
}
