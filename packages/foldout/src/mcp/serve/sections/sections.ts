import { findSummary } from '../../../prompt/render/sections-view.ts'
import { FoldoutError } from '../../../core/errors.ts'
import type { Catalog } from '../../../catalog/contract.ts'
import { isUnknown } from '../../../catalog/unknown-tool.ts'
import type { ExposedCatalog } from '../../../catalog/exposure.ts'
import { META_TOOL_NAMES } from '../../../catalog/names.ts'
import type { Registry } from '../../../prompt/definition/registry.ts'
import type { Session, SessionReader } from '../../../session/session.ts'
import { visibility, type VisibilityOverrides } from '../../../session/visibility.ts'
import type { ServedClient } from '../contract/client.ts'
import { createSectionSource, type SectionSource, type ServedPrompt } from './source.ts'
import { exposeSections } from './tools.ts'

/** The sections of a prompt, to be served to clients. */
export interface Sections {
  forClient(
    inner: ExposedCatalog,
    scope: {
      readonly catalog: Catalog
      readonly client: ServedClient
      readonly session: Session
      readonly isEverything: boolean
    },
  ): { readonly exposed: ExposedCatalog; readonly library: SectionLibrary }
}

export interface ListedSection {
  readonly path: string
  readonly title: string
  /** What its summary says; nothing if it has none. */
  readonly summary: string | undefined
}

/** Sections as resources, and the prompt as a prompt. */
export interface SectionLibrary {
  readonly name: string
  readonly title: string
  /** Renders the prompt as it is before anything is opened. */
  text(): string
  list(): readonly ListedSection[]
  /** Returns the text of the section with this path, or `undefined` if none has it. */
  read(path: string): string | undefined
}

export function serveSections(bound: ServedPrompt, catalog: Catalog): Sections {
  const source = createSectionSource(bound)
  refuseTakenNames(source.registry, catalog)
  // Listeners of the served catalog are notified of these tools too.
  source.tools.subscribe((event) => catalog.report(event))
  return {
    forClient(inner, scope) {
      const asAtFirst = withVisibility(scope.session, scope.session.get(visibility))
      return {
        exposed: exposeSections(source, inner, { ...scope, asAtFirst }),
        library: createLibrary(bound, source, asAtFirst),
      }
    },
  }
}

/** A model distinguishes tools by name. */
function refuseTakenNames({ withTools }: Registry, catalog: Catalog): void {
  for (const { path, section } of withTools)
    for (const { name } of section.tools) {
      if ((META_TOOL_NAMES as readonly string[]).includes(name))
        throw new FoldoutError(
          'mcp-tool-taken',
          `Section '${path}' has a tool '${name}', which is a name of this server's own tools. Rename the tool; if the section holds a catalog, serve that catalog itself.`,
        )
      const found = catalog.resolve(name)
      if (!isUnknown(found) && found.name === name)
        throw new FoldoutError(
          'mcp-tool-taken',
          `Section '${path}' and the catalog both have a tool '${name}'. Rename one of them, or leave it out of the catalog.`,
        )
    }
}

/** Returns a session with fixed visibilities, whatever happens to the original. */
function withVisibility(session: SessionReader, opened: VisibilityOverrides): SessionReader {
  return {
    has: (slice) => session.has(slice),
    get: (slice) => {
      if (slice.name === visibility.name) return opened as never
      return session.get(slice)
    },
  }
}

function createLibrary(bound: ServedPrompt, source: SectionSource, asAtFirst: SessionReader): SectionLibrary {
  return {
    name: bound.prompt.key,
    title: bound.prompt.name,
    text: () => source.render(asAtFirst).text,
    list() {
      const view = source.view(asAtFirst)
      return view.keys.map((path) => {
        const title = source.registry.byPath.get(path)?.section.title ?? path
        return { path, title, summary: findSummary(view, path) }
      })
    },
    read(path) {
      const now = source.view(asAtFirst)
      const state = now.state(path)
      if (state === undefined) return undefined
      if (state === 'full') return now.content(path)
      return now.opened(pathsTo(path)).content(path)
    },
  }
}

function pathsTo(path: string): readonly string[] {
  const keys = path.split('.')
  return keys.map((_, i) => keys.slice(0, i + 1).join('.'))
}
