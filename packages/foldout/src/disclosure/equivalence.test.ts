import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  contextFiles,
  createSession,
  openOrRead,
  openSections,
  readSection,
  type DisclosureStrategy,
} from '../entries/index.ts'
import { createMemoryFilesystem } from '../entries/files.ts'
import { createConversation, type Conversation } from '../testing/conversation.ts'
import { getBound, shapesAndOpenings, type Shape } from '../testing/sections.fixtures.ts'

const strategies: readonly DisclosureStrategy[] = [
  readSection(),
  openSections(),
  openOrRead(),
  contextFiles({ readTool: false }),
]
const ways = strategies.flatMap((disclosure) => [true, false].map((dynamicTools) => ({ disclosure, dynamicTools })))

interface Outcome {
  /** Sections shown in full. */
  readonly full: readonly string[]
  /** Sections that only showed their summary. */
  readonly folded: readonly string[]
  readonly tools: readonly string[]
}

/**
 * Opens sections one after another, like a model that knows what each tool is for, and collects everything it was
 * shown.
 */
async function run(
  sections: readonly Shape[],
  steps: readonly (readonly string[])[],
  way: (typeof ways)[number],
): Promise<Outcome> {
  const filesystem = createMemoryFilesystem()
  const session = createSession()
  const conversation = createConversation({ bound: getBound(sections), session, ...way, filesystem })
  for (const keys of steps) await open(conversation, keys)
  const files = await Promise.all(
    (await filesystem.list('')).length > 0
      ? (await filesystem.list('context')).map(({ path }) => filesystem.read(path))
      : [],
  )
  const text = [...conversation.texts, ...files].join('\n')
  const shown = (what: string): string[] =>
    [...new Set([...text.matchAll(new RegExp(`${what} of ([a-z.]+)\\.`, 'g'))].map((match) => match[1]!))].sort()
  const full = shown('body')
  return {
    full,
    folded: shown('summary').filter((path) => !full.includes(path)),
    tools: [...conversation.tools.keys()]
      .filter((name) => name.includes('_') && !/^(read_section|open_sections)$/.test(name))
      .sort(),
  }
}

async function open(conversation: Conversation, keys: readonly string[]): Promise<void> {
  const useOpen = conversation.tools.has('open_sections')
  if (useOpen) {
    const result = await conversation.call('open_sections', { section_keys: keys, reason: 'test' })
    if (result.ok) return
  }
  // One bad key fails the whole call, so each key gets its own call.
  for (const key of keys) {
    if (useOpen) await conversation.call('open_sections', { section_keys: [key], reason: 'test' })
    if (conversation.tools.has('read_section')) await conversation.call('read_section', { section_key: key })
  }
}

describe('R31 equivalence', () => {
  it('R31 every strategy on every kind of adapter shows the same texts and tools after the same openings', async () => {
    await fc.assert(
      fc.asyncProperty(shapesAndOpenings, async ([sections, steps]) => {
        const reference = await run(sections, steps, ways[0]!)
        for (const way of ways.slice(1)) {
          expect({ way: `${way.disclosure.name} ${way.dynamicTools}`, ...(await run(sections, steps, way)) }).toEqual({
            way: `${way.disclosure.name} ${way.dynamicTools}`,
            ...reference,
          })
        }
      }),
      { numRuns: 150 },
    )
  })
})
