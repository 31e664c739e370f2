import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chatAdapter } from '../entries/adapter.ts'
import {
  contextFiles,
  createSession,
  openOrRead,
  openSections,
  readSection,
  runAgent,
  type AgentOptions,
} from '../entries/index.ts'
import { createMemoryFilesystem } from '../entries/files.ts'
import { getBound, shapesAndOpenings, type Shape } from '../testing/sections.fixtures.ts'

type Way = Pick<AgentOptions, 'disclosure' | 'opening'> & {
  readonly dynamic: boolean
  readonly callThrough?: 'always'
}
const ways: readonly Way[] = [readSection(), openSections(), openOrRead(), contextFiles({ readTool: false })].flatMap(
  (disclosure) =>
    [{ dynamic: true }, { dynamic: false }, { dynamic: true, callThrough: 'always' as const }].flatMap((adapter) =>
      (['eager', 'batched'] as const).map((opening): Way => ({ disclosure, opening, ...adapter })),
    ),
)

/** The tools that the texts of a conversation define for calls through `call_tool`. */
function listDefined(text: string): readonly string[] {
  const [, ...defined] = text.split('Call with call_tool:\n')
  return defined.flatMap((lines) => [...lines.matchAll(/^([\w-]+)\(/gm)].map(([, name = '']) => name))
}

/**
 * Runs a model that opens sections turn by turn, with every disclosure tool it is offered, and collects everything it
 * saw.
 */
async function run(sections: readonly Shape[], steps: readonly (readonly string[])[], way: Way) {
  const seen: string[] = []
  const offered = new Set<string>()
  let turn = 0
  const { dynamic, callThrough = 'never', ...options } = way
  const model = chatAdapter({
    name: 'test',
    model: 'test',
    callThrough,
    async complete({ system, messages, tools, addedTools }) {
      const names = [...tools.map(({ name }) => name), ...addedTools.keys()]
      const texts = messages.flatMap((message) =>
        message.role === 'tool' || message.role === 'user' ? [message.text] : [],
      )
      for (const name of [...names, ...texts.flatMap(listDefined)]) offered.add(name)
      seen.push(system, ...messages.flatMap((message) => (message.role === 'tool' ? [message.text] : [])))
      const keys = steps[turn++]
      const call = (name: string, args: object, i: number) => ({ id: `${turn}-${name}-${i}`, name, arguments: args })
      const toolCalls = (keys ?? []).flatMap((key, i) => [
        ...(names.includes('read_section') ? [call('read_section', { section_key: key }, i)] : []),
        ...(names.includes('open_sections') ? [call('open_sections', { section_keys: [key], reason: '' }, i)] : []),
      ])
      const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0 }
      // A turn without a tool to call makes one call of an unknown tool, so the run does not end early.
      const calls = keys && toolCalls.length === 0 ? [call('nothing', {}, 0)] : toolCalls
      return { message: { role: 'assistant', text: calls.length === 0 ? 'Done.' : '', toolCalls: calls }, usage }
    },
  })
  const filesystem = createMemoryFilesystem()
  const adapter = { ...model, supportsDynamicTools: dynamic }
  await runAgent(getBound(sections), {
    adapter,
    session: createSession(),
    input: 'Go.',
    filesystem,
    maxExpansions: 100,
    ...options,
  })
  const files = (await filesystem.stat('context')) ? await filesystem.list('context') : []
  for (const { path } of files) seen.push(await filesystem.read(path))
  const text = seen.join('\n')
  return {
    full: [...new Set([...text.matchAll(/body of ([a-z.]+)\./g)].map((match) => match[1]!))].sort(),
    tools: [...offered].filter((name) => !/^(read_section|open_sections|call_tool)$/.test(name)).sort(),
  }
}

describe('R31 runs', () => {
  it('R31 R34 show the same texts and offer the same tools after any openings, with every strategy, adapter and policy', async () => {
    await fc.assert(
      fc.asyncProperty(shapesAndOpenings, async ([sections, steps]) => {
        const reference = await run(sections, steps, ways[0]!)
        for (const way of ways.slice(1)) {
          const name = `${way.disclosure!.name} ${way.opening} ${way.dynamic} ${way.callThrough}`
          expect({ name, ...(await run(sections, steps, way)) }).toEqual({ name, ...reference })
        }
      }),
      { numRuns: 60 },
    )
  })
})
