import type { Catalog } from '../catalog/contract.ts'
import { getListing } from '../catalog/listing.ts'
import { all } from '../catalog/exposures/all.ts'
import { auto } from '../catalog/exposures/auto.ts'
import type { ExposedCatalog, Exposure, ListedTool } from '../catalog/exposure.ts'
import { getSourceGroup } from '../catalog/source-group.ts'
import type { CatalogEntry } from '../catalog/tool.ts'
import { isUnknown } from '../catalog/unknown-tool.ts'
import { createUncheckedSchema } from '../core/schema/schema.ts'
import { defineSection, type Section } from '../prompt/definition/section.ts'
import { getSessionIdentity } from '../session/live-session.ts'
import type { SessionReader } from '../session/session.ts'
import { visibility } from '../session/visibility.ts'
import { toToolResult } from '../tools/convert-result.ts'
import type { Opening, ToolResult } from '../tools/result.ts'
import { defineTool, type AnyTool, type ToolContext } from '../tools/tool.ts'

/**
 * Options of {@link catalogSection}.
 *
 * @example
 * ```ts
 * const options: CatalogSectionOptions<'mail'> = { key: 'mail', title: 'Mail', expose: hybrid() }
 * catalogSection(catalog, options).key // => 'mail'
 * ```
 */
export interface CatalogSectionOptions<Key extends string> {
  /** The key of the section. Default `tools`. */
  readonly key?: Key
  /** The title of the section. Default `Tools`. */
  readonly title?: string
  /** The exposure that decides which tools are listed. Default `auto()`. */
  readonly expose?: Exposure
  /** A summary. With one, the section starts folded, and opening it adds its tools. */
  readonly summary?: string
}

/**
 * Creates a section for a catalog. The section offers the tools that the exposure lists; the model finds and runs all other
 * tools through them, as over MCP. A tool that the exposure lists later is added to the conversation if the adapter can add
 * tools.
 *
 * @example
 * const prompt = definePrompt({ ns: 'support', key: 'agent', sections: [role, catalogSection(catalog, { expose: hybrid() })] })
 */
export function catalogSection<const Key extends string = 'tools'>(
  catalog: Catalog,
  options: CatalogSectionOptions<Key> = {},
): Section<{}, Key> {
  const { key = 'tools' as Key, title = 'Tools', expose = auto() } = options
  expose.check?.(catalog)
  const shown = exposeTo(catalog, expose, key, [])
  const shelf: Shelf = { catalog, expose, key, shown, conversations: new WeakMap() }
  const instructions: string = shown.instructions
  const summary: string | undefined = options.summary
  return defineSection({
    key,
    title,
    template: instructions,
    tools: shown.list().map((listing) => createSectionTool(shelf, listing)),
    toolsOnDemand: {
      find(name) {
        const found = catalog.resolve(name)
        return isUnknown(found) ? undefined : createSectionTool(shelf, getListing(found))
      },
      findGroup(name) {
        const found = catalog.resolve(name)
        return isUnknown(found) ? undefined : getSourceGroup(catalog, found)
      },
    },
    ...(summary === undefined ? {} : { summary, visibility: 'summary' as const }),
  })
}

/** Finds tools of a catalog by their names, for sections that offer some of them. The same name is always the same tool. */
export function createToolFinder(catalog: Catalog): (name: string) => AnyTool | undefined {
  const key = 'tools'
  const expose = all()
  const shown = exposeTo(catalog, expose, key, [])
  const shelf: Shelf = { catalog, expose, key, shown, conversations: new WeakMap() }
  const made = new Map<string, AnyTool>()
  return (name) => {
    const found = catalog.resolve(name)
    if (isUnknown(found)) return undefined
    const tool = made.get(found.qualified) ?? createSectionTool(shelf, getListing(found))
    made.set(found.qualified, tool)
    return tool
  }
}

interface Shelf {
  readonly catalog: Catalog
  readonly expose: Exposure
  readonly key: string
  /** The catalog as the prompt first shows it. */
  readonly shown: ExposedCatalog
  /** The catalog as each session sees it, because an exposure may track the actions of its client. */
  readonly conversations: WeakMap<object, Conversation>
}

interface Conversation {
  readonly exposed: ExposedCatalog
  /** The tools that were added to the conversation, by name, as of the last call. */
  joined: ReadonlySet<string>
  /** The tools that calls have offered to the conversation so far. */
  readonly offered: Set<string>
}

function exposeTo(catalog: Catalog, expose: Exposure, key: string, joined: readonly string[]): ExposedCatalog {
  return expose.expose(catalog, { id: `prompt:${key}`, takesListChanges: true, joined })
}

/** Returns the catalog as a session sees it, created once for each session. */
function getConversation(shelf: Shelf, path: string, { session }: ToolContext): Conversation {
  const entries = getJoined(shelf, path, session)
  const joined = new Set(entries.map(({ name }) => name))
  const identity = getSessionIdentity(session)
  const known = shelf.conversations.get(identity)
  if (known && goesOn(known, joined)) {
    // The announced tools are now in the list.
    if (joined.size > known.joined.size) known.exposed.listed()
    known.joined = joined
    return known
  }
  const names = entries.map(({ qualified }) => qualified)
  const exposed = exposeTo(shelf.catalog, shelf.expose, shelf.key, names)
  const offered = new Set(exposed.list().map(({ name }) => name))
  const conversation = { exposed, joined, offered }
  shelf.conversations.set(identity, conversation)
  return conversation
}

/** Whether a session has only moved forward since the last call. A restore moves it back. */
function goesOn({ exposed, joined: before }: Conversation, joined: ReadonlySet<string>): boolean {
  const listed = new Set(exposed.list().map(({ name }) => name))
  return [...before].every((name) => joined.has(name)) && [...joined].every((name) => listed.has(name))
}

function createSectionTool(shelf: Shelf, listing: ListedTool): AnyTool {
  const { name, description, inputSchema } = listing
  return defineTool({
    name,
    description,
    // The catalog checks the arguments; it is more lenient than a schema, and its messages are more helpful.
    params: createUncheckedSchema(inputSchema),
    findsTools: shelf.expose.searchTool === name,
    target(args) {
      const target = shelf.shown.target(name, args)
      if (!target) return undefined
      const { qualified, description: about, inputSchema: schema, annotations } = target.entry
      const definition = { description: about, inputSchema: schema }
      return { name: qualified, arguments: target.arguments, definition, ...(annotations && { annotations }) }
    },
    async needsApproval(args, context) {
      const target = shelf.shown.target(name, args)
      if (!target) return false
      return shelf.catalog.findApprovalNeed(target.entry.qualified, target.arguments, context)
    },
    execute: (args, context) => run(shelf, name, args, context),
  })
}

async function run(shelf: Shelf, name: string, args: unknown, context: ToolContext): Promise<ToolResult> {
  const path = context.prompt?.findSection(name) ?? shelf.key
  const { exposed, offered } = getConversation(shelf, path, context)
  const result = toToolResult(await exposed.call(name, args, context))
  const joined = exposed.list().filter((tool) => !offered.has(tool.name))
  if (!result.ok || joined.length === 0) return result
  for (const tool of joined) offered.add(tool.name)
  const keys = joined.map((tool) => `${path}.${tool.name}`)
  const opening: Opening = {
    keys,
    paths: keys,
    reason: '',
    tools: joined.map((listing) => createSectionTool(shelf, listing)),
    halts: false,
  }
  return { ...result, opening }
}

/** The tools on demand that the session has opened. */
function getJoined({ catalog }: Shelf, path: string, session: SessionReader): readonly CatalogEntry[] {
  return Object.entries(session.get(visibility)).flatMap(([opened, asked]) => {
    if (asked !== 'full' || !opened.startsWith(`${path}.`)) return []
    const found = catalog.resolve(opened.slice(path.length + 1))
    return isUnknown(found) ? [] : [found]
  })
}
