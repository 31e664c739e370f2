import type { BrokenTool, Catalog } from 'foldout/catalog'
import { toVisible } from '../policy/visible.ts'
import { ALL_INSTRUCTIONS_BYTES, FEWEST_INSTRUCTIONS_BYTES, INSTRUCTIONS_BYTES } from './limits.ts'

/** A server and what it says about its use, for models. */
export interface InstructingServer {
  readonly name: string
  readonly instructions: string | undefined
}

/**
 * The instructions of a gateway: the user's, and the beginning of what its servers say. A server's text is on one line that begins with
 * the server's name, so it cannot pass for the gateway's or for another server's. The same servers always give the same text.
 */
export function formatInstructions(own: string | undefined, servers: readonly InstructingServer[]): string {
  const texts = servers.flatMap(({ name, instructions = '' }) => {
    const text = toVisible(instructions.replaceAll(/\s+/g, ' ')).trim()
    return text === '' ? [] : [{ name, text }]
  })
  const share = Math.min(INSTRUCTIONS_BYTES, Math.floor(ALL_INSTRUCTIONS_BYTES / texts.length))
  const lines = texts.map(({ name, text }) => `- ${name}: ${cut(text, share)}`)
  const said =
    lines.length === 0 || share < FEWEST_INSTRUCTIONS_BYTES
      ? ''
      : `The servers say about their tools:\n${lines.join('\n')}`
  return [own, said].filter((part) => part).join('\n\n')
}

/** As many whole words of a text as have this many bytes. */
function cut(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text
  let left = bytes
  let end = 0
  for (const character of text) {
    left -= Buffer.byteLength(character)
    if (left < 0) break
    end += character.length
  }
  const start = text.slice(0, end)
  const space = start.lastIndexOf(' ')
  // A language without spaces is cut anywhere.
  return `${(space > end / 2 ? start.slice(0, space) : start).trimEnd()} …`
}

/** Reports tools that clients do not see because something is wrong with their definitions, once each. */
export function createBrokenReport(
  catalog: Pick<Catalog, 'broken'>,
  onBroken: (server: string, tools: readonly BrokenTool[]) => void,
): () => void {
  /** How often each was reported: several without a name look the same. */
  const known = new Map<string, number>()
  return () => {
    const news = new Map<string, BrokenTool[]>()
    const seen = new Map<string, number>()
    for (const tool of catalog.broken) {
      const id = JSON.stringify(tool)
      const times = (seen.get(id) ?? 0) + 1
      seen.set(id, times)
      if (times <= (known.get(id) ?? 0)) continue
      known.set(id, times)
      // Every tool of a gateway comes from a server.
      const server = tool.source ?? ''
      const same = news.get(server)
      if (same) same.push(tool)
      else news.set(server, [tool])
    }
    for (const [server, tools] of news) onBroken(server, tools)
  }
}
