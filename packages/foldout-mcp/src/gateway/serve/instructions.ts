import { toVisible } from '../policy/visible.ts'

/** A server and what it says about its use, for models. */
export interface InstructingServer {
  readonly name: string
  readonly instructions: string | undefined
}

/** How much of the instructions of all servers clients get, in bytes. About 300 tokens. */
export const ALL_INSTRUCTIONS_BYTES = 1_200

/** How much of the instructions of one server clients get, in bytes. */
export const INSTRUCTIONS_BYTES = 400

/** With a smaller share for each server, none says anything. */
export const FEWEST_BYTES = 80

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
    lines.length === 0 || share < FEWEST_BYTES ? '' : `The servers say about their tools:\n${lines.join('\n')}`
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
