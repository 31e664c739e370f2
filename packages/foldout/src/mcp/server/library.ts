import type { Server } from '@modelcontextprotocol/server'
import { toVisibleText } from '../../core/visible-text.ts'
import { formatPage } from './list.ts'
import type { ServerSdk } from './sdk.ts'
import type { SectionLibrary } from './sections/sections.ts'

const SCHEME = 'section://'
const MIME_TYPE = 'text/markdown'

interface LibraryParts {
  readonly sdk: ServerSdk
  readonly server: Server
  readonly library: SectionLibrary
  readonly pageSize: number
}

/** Answers requests for sections as resources, and for the whole as a prompt. */
export function answerLibrary({ sdk, server, library, pageSize }: LibraryParts): void {
  server.setRequestHandler('resources/list', ({ params }) => {
    const page = formatPage(library.list(), params?.cursor, { size: pageSize, getName: ({ path }) => path })
    if (!page)
      throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, 'This server did not issue this cursor.')
    const { items, ...next } = page
    const resources = items.map(({ path, title, summary }) => ({
      uri: `${SCHEME}${path}`,
      name: path,
      title: toVisibleText(title),
      ...(summary ? { description: toVisibleText(summary) } : {}),
      mimeType: MIME_TYPE,
    }))
    return { resources, ...next }
  })
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }))
  server.setRequestHandler('resources/read', ({ params: { uri } }) => {
    const text = uri.startsWith(SCHEME) ? library.read(uri.slice(SCHEME.length)) : undefined
    if (text === undefined) throw new sdk.ResourceNotFoundError(uri)
    return { contents: [{ uri, mimeType: MIME_TYPE, text: toVisibleText(text) }] }
  })

  const { name, title } = library
  server.setRequestHandler('prompts/list', () => ({
    prompts: [{ name, title, description: 'The table of contents: open sections in full, folded ones as summaries.' }],
  }))
  server.setRequestHandler('prompts/get', ({ params }) => {
    if (params.name !== name)
      throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, `The only prompt here is '${name}'.`)
    return {
      messages: [{ role: 'user' as const, content: { type: 'text' as const, text: toVisibleText(library.text()) } }],
    }
  })
}
