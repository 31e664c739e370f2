import { toVisibleText } from '../../../core/visible-text.ts'
import type { ServedSkills } from '../../skills/served-skills.ts'
import type { JsonObject } from '../../protocol/messages.ts'
import type { SectionLibrary } from '../sections/sections.ts'
import { formatPage } from '../views/list.ts'
import type { Handler } from './request.ts'
import { createInvalid, NOT_FOUND, RequestError, UNKNOWN_CURSOR } from './request-error.ts'

const SCHEME = 'section://'
const MIME_TYPE = 'text/markdown'

/** What a server has as resources. */
interface ResourceParts {
  readonly library: SectionLibrary | undefined
  readonly skills: ServedSkills | undefined
}

/** Answers requests for sections and skills as resources. */
export function createResourceHandlers(
  { library, skills }: ResourceParts,
  pageSize: number,
): Readonly<Record<string, Handler>> {
  if (!library && !skills) return {}
  return {
    'resources/list'({ params: { cursor } }) {
      const all = [...(skills?.resources ?? []), ...(library ? listSections(library) : [])]
      const { items, ...next } = toPage(all, cursor, pageSize)
      return { resources: items, ...next }
    },
    'resources/templates/list': () => ({ resourceTemplates: [] }),
    async 'resources/read'({ params: { uri } }) {
      if (typeof uri !== 'string') throw createInvalid("'uri' must say which resource to read.")
      const text = uri.startsWith(SCHEME) ? library?.read(uri.slice(SCHEME.length)) : undefined
      if (text !== undefined) return { contents: [{ uri, mimeType: MIME_TYPE, text: toVisibleText(text) }] }
      const file = await skills?.read(uri)
      if (!file) throw new RequestError(NOT_FOUND, `Resource not found: ${uri}`, { uri })
      return file
    },
    ...(library && createPromptHandlers(library)),
    ...(skills && createSkillHandlers(skills, pageSize)),
  }
}

function listSections(library: SectionLibrary): readonly JsonObject[] {
  return library.list().map(({ path, title, summary }) => ({
    uri: `${SCHEME}${path}`,
    name: path,
    title: toVisibleText(title),
    ...(summary && { description: toVisibleText(summary) }),
    mimeType: MIME_TYPE,
  }))
}

function toPage(
  all: readonly JsonObject[],
  cursor: unknown,
  size: number,
): ReturnType<typeof formatPage<JsonObject>> & {} {
  const page = formatPage(all, cursor, { size, getName: ({ uri }) => String(uri) })
  if (!page) throw createInvalid(UNKNOWN_CURSOR)
  return page
}

/** The whole as a prompt. */
function createPromptHandlers(library: SectionLibrary): Readonly<Record<string, Handler>> {
  const { name, title } = library
  const description = 'The table of contents: open sections in full, folded ones as summaries.'
  return {
    'prompts/list': () => ({ prompts: [{ name, title, description }] }),
    'prompts/get'({ params }) {
      if (params['name'] !== name) throw createInvalid(`The only prompt here is '${name}'.`)
      return { messages: [{ role: 'user', content: { type: 'text', text: toVisibleText(library.text()) } }] }
    },
  }
}

/** The methods of the extension for skills. */
function createSkillHandlers(skills: ServedSkills, pageSize: number): Readonly<Record<string, Handler>> {
  return {
    async 'skills/list'({ params: { cursor } }) {
      const { items, ...next } = toPage(skills.resources, cursor, pageSize)
      const entries: unknown[] = []
      for (const { uri } of items) entries.push(await skills.describe(String(uri)))
      return { skills: entries, ...next }
    },
    async 'skills/get'({ params: { uri } }) {
      const skill = typeof uri === 'string' ? await skills.describe(uri) : undefined
      if (!skill) throw createInvalid(`There is no skill with the URI ${String(uri).slice(0, 200)}.`)
      return { skill }
    },
    async 'resources/directory/read'({ params: { uri, cursor } }) {
      const children = typeof uri === 'string' ? await skills.list(uri) : undefined
      if (!children) throw createInvalid(`There is no folder with the URI ${String(uri).slice(0, 200)}.`)
      const { items, ...next } = toPage(children, cursor, pageSize)
      return { resources: items, ...next }
    },
  }
}
