import { getListing, withAlwaysLoad } from '../../../catalog/listing.ts'
import { readArguments } from '../../../catalog/entries/arguments.ts'
import type { Catalog } from '../../../catalog/contract.ts'
import { isUnknown } from '../../../catalog/unknown-tool.ts'
import { shorten } from '../../../core/text.ts'
import { toVisibleText } from '../../../core/visible-text.ts'
import { createErrorResult, createTextResult } from '../../../tools/call-result.ts'
import { toCallResult } from '../../../tools/convert-result.ts'
import { describeThrown } from '../../../tools/thrown.ts'
import type { ExposedCatalog, ListedTool } from '../../../catalog/exposure.ts'
import { DISCOVER_AND_USE, getTarget, readInnerCall, runTool, USE_TOOL } from '../../../catalog/meta-tools/run-tool.ts'
import { createUseTool } from '../../../catalog/meta-tools/use-tool.ts'
import { formatSignature } from '../../../catalog/signatures/signature.ts'
import type { CallContext, CallResult, CatalogEntry } from '../../../catalog/tool.ts'
import { getOpening, planOpening, resolveKeys, type OpeningPlan } from '../../../disclosure/engine.ts'
import { findSections, isSearchable, type FoundSections } from '../../../disclosure/find-sections.ts'
import { describeFoldedTool } from '../../../disclosure/hints.ts'
import { applyOpening } from '../../../disclosure/opening.ts'
import type { DisclosureView } from '../../../disclosure/strategy.ts'
import { READ_SECTION } from '../../../disclosure/tools.ts'
import type { Session, SessionReader } from '../../../session/session.ts'
import type { ServedClient } from '../contract/client.ts'
import type { SectionSource } from './source.ts'

export interface SectionScope {
  readonly catalog: Catalog
  readonly client: ServedClient
  readonly session: Session
  readonly isEverything: boolean
  /** The session with the visibilities from when the client connected. */
  readonly asAtFirst: SessionReader
}

const INSTRUCTIONS =
  'This server also has instructions in sections. Call read_section without a key for the table of contents, and with the key of a section before you do what it is about: it comes with its tools.'

const FIND_INSTRUCTIONS =
  'This server also has instructions in many sections. Call read_section with a query, and it finds the section that says it, or with a key from the table of contents, which it returns without either. Do this before you do what a section is about: it comes with its tools.'

const SECTION_KEY = { type: 'string', description: "As its summary shows it, such as 'parent.child'" } as const
const READ_SECTION_LISTING: ListedTool = withAlwaysLoad({
  name: READ_SECTION,
  description: 'Read a section in full and get its tools. Without a key: the table of contents.',
  inputSchema: { type: 'object', properties: { section_key: SECTION_KEY } },
  annotations: { title: 'Read a section', readOnlyHint: true, idempotentHint: true, openWorldHint: false },
})

/** For prompts with many sections, whose table of contents does not name all of them. */
const FIND_SECTION_LISTING: ListedTool = {
  ...READ_SECTION_LISTING,
  description: 'Read a section in full and get its tools, by key or by query. Without either: the table of contents.',
  inputSchema: {
    type: 'object',
    properties: {
      section_key: SECTION_KEY,
      query: { type: 'string', description: 'What you need to know, in a few words, or the name of a tool' },
    },
  },
}

/**
 * Exposes a prompt's sections along with a catalog. Tools of open sections are listed; reading a folded section adds
 * its tools. If nothing is remembered about a client, there are no openings, so every tool can be called at any time.
 */
export function exposeSections(source: SectionSource, inner: ExposedCatalog, scope: SectionScope): ExposedCatalog {
  const { catalog, client } = scope
  const shown = new ShownTools(source, scope)
  const own = { catalog: source.tools, client: { id: client.id, takesListChanges: client.era === 'legacy' } }
  const runner = createUseTool({ ...own, catalog })
  // It depends on the prompt only, so the list does not change.
  const canFind = isSearchable(source.view(scope.session))
  const hasFoldedTools = shown.entries.length < source.tools.tools.length
  const isRunnerOurs = (): boolean => hasFoldedTools && !inner.list().some(({ name }) => name === USE_TOOL)

  async function run(call: SectionCall, context: CallContext): Promise<CallResult> {
    // If nothing is remembered about a client, each request has its own session.
    const session = shown.keepsState ? scope.session : (context.session ?? scope.session)
    let prompt: ReturnType<SectionSource['render']>
    try {
      prompt = source.render(session)
    } catch (error) {
      return toFailure(call.name, error)
    }
    if (shown.keepsState && !shown.has(call.name)) {
      const path = prompt.toolsInFolds.get(call.name)
      if (path === undefined) return createErrorResult(`Tool '${call.name}' is not there at the moment.`)
      return createErrorResult(describeFoldedTool(call.name, path, prompt))
    }
    const result = await runTool(own, call, { ...context, session, prompt })
    shown.refresh()
    return result
  }

  return {
    get choice() {
      return inner.choice
    },
    get instructions() {
      return [inner.instructions, canFind ? FIND_INSTRUCTIONS : INSTRUCTIONS].filter((text) => text !== '').join(' ')
    },
    list() {
      return [
        ...inner.list(),
        canFind ? FIND_SECTION_LISTING : READ_SECTION_LISTING,
        ...(isRunnerOurs() ? [{ ...runner.listing, description: 'Run a tool that read_section showed.' }] : []),
        ...shown.entries.map(getListing),
      ]
    },
    listed: () => inner.listed(),
    async call(name, args, context) {
      if (name === READ_SECTION)
        return readSection({ source, scope, shown, signal: context.signal ?? new AbortController().signal }, args)
      const call = findSectionCall(source, name, args)
      if (call) return run(call, context)
      if (name !== USE_TOOL || !isRunnerOurs()) return inner.call(name, args, context)
      const given = readArguments(args)
      if ('fault' in given) return createErrorResult(`Wrong arguments for tool '${name}': ${given.fault}.`)
      return runner.call(given.args, context)
    },
    target(name, args) {
      const call = findSectionCall(source, name, args)
      if (call) return getTarget(own, call)
      return inner.target(name, args)
    },
    onListChanged(listener) {
      const stops = [shown.onChange(listener), inner.onListChanged(listener)]
      return () => {
        for (const stop of stops) stop()
      }
    },
    refresh() {
      shown.refresh()
      inner.refresh?.()
    },
  }
}

/** The tools of sections that a client has in its list. */
class ShownTools {
  /** Whether what the client opens stays open. */
  readonly keepsState: boolean
  readonly #source: SectionSource
  readonly #scope: SectionScope
  readonly #shown = new Map<string, CatalogEntry>()
  readonly #listeners = new Set<() => void>()

  constructor(source: SectionSource, scope: SectionScope) {
    this.#source = source
    this.#scope = scope
    this.keepsState = scope.client.era === 'legacy' && !scope.isEverything
    this.#show()
  }

  get entries(): readonly CatalogEntry[] {
    return [...this.#shown.values()]
  }

  has(name: string): boolean {
    return this.#shown.has(name)
  }

  /** Adds the tools of sections that are open now, for a client that can be notified. */
  refresh(): void {
    if (this.keepsState && this.#show()) for (const listener of this.#listeners) listener()
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #show(): boolean {
    const before = this.#shown.size
    const { tools } = this.#source
    const visible = this.#scope.isEverything ? tools.tools : this.#source.render(this.#scope.session).tools
    for (const { name } of visible) {
      const found = tools.resolve(name)
      if (!isUnknown(found) && found.name === name) this.#shown.set(name, found)
    }
    return this.#shown.size > before
  }
}

interface SectionCall {
  readonly name: string
  readonly args: unknown
  readonly through?: string
}

/** Finds the section's tool that a call is for, directly or through a tool that runs other tools. */
function findSectionCall({ tools }: SectionSource, name: string, args: unknown): SectionCall | undefined {
  const read = readArguments(args)
  const given = 'fault' in read ? {} : read.args
  const inside = name === USE_TOOL || name === DISCOVER_AND_USE ? readInnerCall(name, given) : undefined
  const isInside = typeof inside?.name === 'string' && !(name === DISCOVER_AND_USE && given['action'] === 'search')
  const called = isInside ? { ...inside, name: inside.name, through: name } : { name, args }
  const found = tools.resolve(called.name)
  if (!isUnknown(found) && found.name === called.name) return called
  return undefined
}

/** Errors of a section's own functions are for the model to read, not for the protocol. */
function toFailure(name: string, error: unknown): CallResult {
  return createErrorResult(toVisibleText(describeThrown(name, error)))
}

interface ReadParts {
  readonly source: SectionSource
  readonly scope: SectionScope
  readonly shown: ShownTools
  readonly signal: AbortSignal
}

/** Answers a call of `read_section`. */
async function readSection(parts: ReadParts, args: unknown): Promise<CallResult> {
  try {
    return await answerRequest(parts, args)
  } catch (error) {
    return toFailure(READ_SECTION, error)
  }
}

async function answerRequest({ source, scope, shown, signal }: ReadParts, args: unknown): Promise<CallResult> {
  const given = readArguments(args)
  if ('fault' in given) return createErrorResult(`Wrong arguments for tool '${READ_SECTION}': ${given.fault}.`)
  const getNow = (): DisclosureView => source.view(shown.keepsState ? scope.session : scope.asAtFirst)
  const view = getNow()
  const canFind = isSearchable(view)
  const { section_key: asked = '', query = '', ...others } = given.args
  const [unknown] = Object.keys({ ...others, ...(!(canFind || query === '') && { query }) })
  if (unknown !== undefined && asked === '')
    return createErrorResult(
      `Wrong arguments for tool '${READ_SECTION}': there is no argument '${toVisibleText(shorten(unknown))}'; there is: section_key${canFind ? ', query' : ''}.`,
    )
  if (typeof asked !== 'string') return createErrorResult("'section_key' must be a string, such as 'parent.child'.")
  if (asked === '' && query === '') return createTextResult(toVisibleText(source.render(scope.asAtFirst).text))
  if (typeof query !== 'string') return createErrorResult("'query' must be a string, in a few words.")
  const found = asked === '' ? await findSections(view, { query, tool: READ_SECTION }) : await findByKey(view, asked)
  if ('answer' in found) return toCallResult({ ...found.answer, message: toVisibleText(found.answer.message) })
  const [key = asked] = found.plan.keys
  const isLoaded = await view.load([key, ...[...found.plan.pathsByKey.values()].flat()], { ...scope, signal })
  const now = isLoaded ? getNow() : view
  const { text, paths } = toContent(now, key, found.plan)
  const tools = source.toolsIn(now.opened(paths), paths[0] ?? key)
  if (shown.keepsState) {
    applyOpening(scope.session, { paths })
    shown.refresh()
  }
  return createTextResult(toVisibleText([text, ...formatToolLines(tools, shown.keepsState)].join('\n\n')))
}

async function findByKey(view: DisclosureView, asked: string): Promise<FoundSections> {
  const resolved = resolveKeys(view, [asked], { takesFull: true })
  if ('fault' in resolved) return { answer: (await view.readFile(asked)) ?? resolved.fault }
  return { plan: planOpening(view, resolved.keys, '') }
}

/**
 * Returns a section's text, and the sections that have to be opened for it. An open section was not necessarily read:
 * the client sees only its text.
 */
function toContent(
  view: DisclosureView,
  key: string,
  plan: OpeningPlan,
): { readonly text: string; readonly paths: readonly string[] } {
  if (view.state(key) === 'full') return { text: view.content(key), paths: [] }
  const { content, opening } = getOpening(view, plan, { halts: false })
  return { text: content || 'The section has no content.', paths: opening.paths }
}

function formatToolLines(tools: readonly CatalogEntry[], joinList: boolean): string[] {
  if (tools.length === 0) return []
  const runner = `${USE_TOOL} {"name":"…","arguments":{…}}`
  const how = joinList
    ? `Its tools are in the tool list now. If you do not see them there, run them with ${runner}:`
    : `Its tools, to be run with ${runner}:`
  const lines = tools.map((tool) => {
    const signature = formatSignature(tool)
    if (tool.shortDescription === '') return signature
    return `${signature} — ${tool.shortDescription}`
  })
  return [[how, ...lines].join('\n')]
}
