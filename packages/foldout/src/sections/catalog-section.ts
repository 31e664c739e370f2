import { isUnknown, type Catalog } from '../catalog/catalog.ts'
import type { Exposed, Exposure, ListedTool } from '../catalog/exposures/exposure.ts'
import { auto } from '../catalog/exposures/auto.ts'
import { getListing } from '../catalog/listing.ts'
import { shownOnly } from '../core/schema/schema.ts'
import { defineSection, type Section } from '../prompt/section.ts'
import { visibility } from '../session/visibility.ts'
import type { Opening, ToolResult } from '../tools/result.ts'
import { defineTool, type AnyTool, type ToolContext } from '../tools/tool.ts'
import { toolResult } from './tool-result.ts'

export interface CatalogSectionOptions<Key extends string> {
  /** Default `tools`. */
  readonly key?: Key
  /** Default `Tools`. */
  readonly title?: string
  /** How the catalog is listed. Default `auto()`. */
  readonly expose?: Exposure
  /** With a summary the section is folded at first, and its tools come with its opening. */
  readonly summary?: string
}

/**
 * A section that hangs a catalog on a prompt. Its tools are those that the exposure lists; the others are found and run through
 * them, as over MCP. A tool that the exposure adds to its list joins the conversation where the adapter can add tools.
 */
export function catalogSection<const Key extends string = 'tools'>(
  catalog: Catalog,
  options: CatalogSectionOptions<Key> = {},
): Section<{}, Key> {
  const { key = 'tools' as Key, title = 'Tools', expose = auto() } = options
  expose.check?.(catalog)
  const shelf: Shelf = { catalog, expose, key }
  const shown = exposedTo(shelf, [])
  const instructions: string = shown.instructions
  const summary: string | undefined = options.summary
  return defineSection({
    key,
    title,
    template: instructions,
    tools: shown.list().map((listing) => sectionTool(shelf, listing)),
    toolsOnDemand: {
      find(name) {
        const found = catalog.resolve(name)
        return isUnknown(found) ? undefined : sectionTool(shelf, getListing(found))
      },
    },
    ...(summary === undefined ? {} : { summary, visibility: 'summary' as const }),
  })
}

interface Shelf {
  readonly catalog: Catalog
  readonly expose: Exposure
  readonly key: string
}

/** The catalog as a conversation sees it, in which some tools have joined already. */
function exposedTo({ catalog, expose, key }: Shelf, joined: readonly string[]): Exposed {
  return expose.expose(catalog, { id: `prompt:${key}`, takesListChanges: true, joined })
}

function sectionTool(shelf: Shelf, listing: ListedTool): AnyTool {
  const { name, description, inputSchema } = listing
  return defineTool({
    name,
    description,
    // The catalog checks arguments, and is more forgiving and more telling than a schema.
    params: shownOnly(inputSchema),
    target(args) {
      const target = exposedTo(shelf, []).target(name, args)
      return target && { name: target.entry.qualified, arguments: target.arguments }
    },
    execute: (args, context) => run(shelf, name, args, context),
  })
}

async function run(shelf: Shelf, name: string, args: unknown, context: ToolContext): Promise<ToolResult> {
  const path = context.prompt?.findSection(name) ?? shelf.key
  const exposed = exposedTo(shelf, joinedTools(shelf, path, context))
  const before = new Set(exposed.list().map((tool) => tool.name))
  const result = toolResult(await exposed.call(name, args, context))
  const joined = exposed.list().filter((tool) => !before.has(tool.name))
  if (!result.ok || joined.length === 0) return result
  const keys = joined.map((tool) => `${path}.${tool.name}`)
  const opening: Opening = {
    keys,
    paths: keys,
    reason: '',
    tools: joined.map((listing) => sectionTool(shelf, listing)),
    halts: false,
  }
  return { ...result, opening }
}

/** The tools that were opened one by one so far, by qualified name. */
function joinedTools({ catalog }: Shelf, path: string, { session }: ToolContext): readonly string[] {
  return Object.entries(session.get(visibility)).flatMap(([opened, asked]) => {
    if (asked !== 'full' || !opened.startsWith(`${path}.`)) return []
    const found = catalog.resolve(opened.slice(path.length + 1))
    return isUnknown(found) ? [] : [found.qualified]
  })
}
