import type { ModelMessage, ToolSet } from 'ai'
import type { AdditionStyle } from '../../../adapters/ai-sdk/additions.ts'
import { includeInSessions, type Session, type SessionReader } from '../../../session/session.ts'
import { defineSlice } from '../../../session/slice.ts'
import type { AnyTool } from '../../../tools/tool.ts'
import { toHostTool } from '../core/host.ts'

type AddedByCall = Readonly<Record<string, readonly string[]>>
const NONE: AddedByCall = {}

/** The names of the tools that calls added where the provider takes them at their place, by the ids of the calls. */
const addedInPlace = includeInSessions(
  defineSlice({
    name: 'addedInPlace',
    initial: NONE,
    reducers: {
      added: (calls, { callId, names }: { readonly callId: string; readonly names: readonly string[] }) => ({
        ...calls,
        [callId]: names,
      }),
    },
    checks: { added: checkAdded },
  }),
)

function checkAdded(payload: unknown): string | undefined {
  const { callId, names } = payload as { readonly callId?: unknown; readonly names?: unknown }
  if (typeof callId !== 'string') return 'its callId is not a string'
  const isList = Array.isArray(names) && names.every((name) => typeof name === 'string')
  return isList ? undefined : 'its names are not a list of strings'
}

/** Remembers what a call added, so that every later request shows it at the same place, also in another process. */
export function rememberAdded(session: Session, callId: string, added: readonly AnyTool[]): void {
  if (added.length === 0 || !session.has(addedInPlace)) return
  session.dispatch(addedInPlace.events.added({ callId, names: added.map(({ name }) => name) }))
}

type ProviderOptions = NonNullable<ToolSet[string]['providerOptions']>

/** The tools of a request that are shown in the results that added them. */
export interface PlacedTools {
  readonly messages: readonly ModelMessage[]
  /** What the definition of a tool needs so that it leaves the cached list of tools as it is. */
  readonly options: ReadonlyMap<string, ProviderOptions>
  /** The ids of the calls whose tools are all in their results. */
  readonly calls: ReadonlySet<string>
}

interface PlaceOptions {
  readonly session: SessionReader
  /** The tools that can be called now. */
  readonly tools: readonly AnyTool[]
  /** How the provider's package takes added tools; `undefined` if it has no such way. */
  readonly style: AdditionStyle | undefined
}

/** Anthropic accepts no more in one result. */
const MAX_REFERENCES = 5

/** Puts added tools into the results that added them. A tool whose result is gone stays in the list of tools. */
export function placeAddedTools(
  messages: readonly ModelMessage[],
  { session, tools, style }: PlaceOptions,
): PlacedTools {
  const options = new Map<string, ProviderOptions>()
  const calls = new Set<string>()
  const known = style !== undefined && session.has(addedInPlace) ? session.get(addedInPlace) : NONE
  if (style === undefined || known === NONE) return { messages, options, calls }
  const callable = new Map(tools.map((tool) => [tool.name, tool]))
  const place = (part: ToolPart): ToolPart => {
    if (part.type !== 'tool-result' || !Object.hasOwn(known, part.toolCallId)) return part
    const { [part.toolCallId]: names = [] } = known
    const added = names.flatMap((name) => (options.has(name) ? [] : (callable.get(name) ?? [])))
    const shown = style === 'anthropic' ? added.slice(0, MAX_REFERENCES) : added
    const placed = style === 'anthropic' ? withReferences(part, shown) : withDefinitions(part, shown)
    if (placed === undefined) return part
    for (const { name } of shown) options.set(name, UNLISTED[style])
    if (shown.length === added.length) calls.add(part.toolCallId)
    return placed
  }
  const all = messages.map((message): ModelMessage => {
    if (message.role !== 'tool') return message
    const content = message.content.map(place)
    const isSame = content.every((part, index) => part === message.content[index])
    return isSame ? message : { ...message, content }
  })
  return { messages: all, options, calls }
}

const UNLISTED: Readonly<Record<AdditionStyle, ProviderOptions>> = {
  anthropic: { anthropic: { deferLoading: true } },
  openai: { openai: { omitFromRequestTools: true } },
}

type ToolPart = Extract<ModelMessage, { readonly role: 'tool' }>['content'][number]
type ResultPart = Extract<ToolPart, { readonly type: 'tool-result' }>
type ContentItem = Extract<ResultPart['output'], { readonly type: 'content' }>['value'][number]

/** Names tools whose definitions are deferred. The package drops from failed results that they failed. */
function withReferences(part: ResultPart, tools: readonly AnyTool[]): ResultPart | undefined {
  const said = getContent(part.output)
  if (said === undefined || tools.length === 0) return undefined
  const references = tools.map(({ name }) => toReference(name))
  // Version 7 gives back what was placed for the step before.
  const own = said.filter((item) => !references.some((reference) => isSameReference(item, reference)))
  return { ...part, output: { type: 'content', value: [...own, ...references] } }
}

function toReference(toolName: string): ContentItem {
  return { type: 'custom', providerOptions: { anthropic: { type: 'tool-reference', toolName } } }
}

function isSameReference(item: ContentItem, reference: ContentItem): boolean {
  return item.type === 'custom' && JSON.stringify(item) === JSON.stringify(reference)
}

/** Anthropic rejects empty text. */
function getContent(output: ResultPart['output']): readonly ContentItem[] | undefined {
  if (output.type === 'content') return output.value
  if (output.type !== 'text') return undefined
  return output.value.trim() === '' ? [] : [{ type: 'text', text: output.value }]
}

/** Defines tools after a result. */
function withDefinitions(part: ResultPart, tools: readonly AnyTool[]): ResultPart | undefined {
  if (tools.length === 0) return undefined
  const additionalTools = tools.map((tool) => {
    const { name, description, inputSchema } = toHostTool(tool)
    return { type: 'function', name, description, parameters: inputSchema, strict: false }
  })
  const { openai: own, ...others } = part.providerOptions ?? {}
  return { ...part, providerOptions: { ...others, openai: { ...own, additionalTools } } as ProviderOptions }
}
