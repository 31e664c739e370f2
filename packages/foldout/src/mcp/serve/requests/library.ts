import { toVisibleText } from '../../../core/visible-text.ts'
import type { SectionLibrary } from '../sections/sections.ts'
import { formatPage } from '../views/list.ts'
import type { Handler } from './request.ts'
import { createInvalid, NOT_FOUND, RequestError, UNKNOWN_CURSOR } from './request-error.ts'

const SCHEME = 'section://'
const MIME_TYPE = 'text/markdown'

/** Answers requests for sections as resources, and for the whole as a prompt. */
export function createLibraryHandlers(library: SectionLibrary, pageSize: number): Readonly<Record<string, Handler>> {
  const { name, title } = library
  const description = 'The table of contents: open sections in full, folded ones as summaries.'
  return {
    'resources/list'({ params: { cursor } }) {
      const page = formatPage(library.list(), cursor, { size: pageSize, getName: ({ path }) => path })
      if (!page) throw createInvalid(UNKNOWN_CURSOR)
      const { items, ...next } = page
      const resources = items.map(({ path, title, summary }) => ({
        uri: `${SCHEME}${path}`,
        name: path,
        title: toVisibleText(title),
        ...(summary ? { description: toVisibleText(summary) } : {}),
        mimeType: MIME_TYPE,
      }))
      return { resources, ...next }
    },
    'resources/templates/list': () => ({ resourceTemplates: [] }),
    'resources/read'({ params: { uri } }) {
      if (typeof uri !== 'string') throw createInvalid("'uri' must say which resource to read.")
      const text = uri.startsWith(SCHEME) ? library.read(uri.slice(SCHEME.length)) : undefined
      if (text === undefined) throw new RequestError(NOT_FOUND, `Resource not found: ${uri}`, { uri })
      return { contents: [{ uri, mimeType: MIME_TYPE, text: toVisibleText(text) }] }
    },
    'prompts/list': () => ({ prompts: [{ name, title, description }] }),
    'prompts/get'({ params }) {
      if (params['name'] !== name) throw createInvalid(`The only prompt here is '${name}'.`)
      return { messages: [{ role: 'user', content: { type: 'text', text: toVisibleText(library.text()) } }] }
    },
  }
}
