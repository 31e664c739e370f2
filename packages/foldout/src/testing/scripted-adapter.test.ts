import { expect, it } from 'vitest'
import { definePrompt, defineSection, runAgent } from '../entries/index.ts'
import { calls, says, scriptedAdapter } from '../entries/testing.ts'

const guide = defineSection({
  key: 'guide',
  title: 'Guide',
  template: 'What to do. '.repeat(500),
  summary: 'What to do.',
  visibility: 'summary',
})
const bound = definePrompt({ ns: 'docs', key: 'scripted', sections: [guide] }).bind()
const script = [calls('read_section', { section_key: 'guide' }), says('Done. '.repeat(100))]

it('R77 a scripted model costs about what was sent and said', async () => {
  const used: number[][] = []
  await runAgent(bound, {
    adapter: scriptedAdapter(script),
    input: 'Go.',
    onEvent(event) {
      if (event.type === 'reply/received') used.push([event.usage.inputTokens, event.usage.outputTokens])
    },
  })
  const [[first = 0, called = 0] = [], [second = 0, said = 0] = []] = used
  // The section has 1,500 words, and is in the second request only.
  expect(second - first).toBeGreaterThan(1500)
  expect(second - first).toBeLessThan(3000)
  expect(first).toBeGreaterThan(50)
  expect(said).toBeGreaterThan(called)
})

it('R77 its usage can be set', async () => {
  const usage = { inputTokens: 7, outputTokens: 3, cachedInputTokens: 2, cacheWriteTokens: 0 }
  const { usage: total } = await runAgent(bound, { adapter: scriptedAdapter(script, { usage }), input: 'Go.' })
  expect(total).toMatchObject({ inputTokens: 14, outputTokens: 6, cachedInputTokens: 4 })
})
