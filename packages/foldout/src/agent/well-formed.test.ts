import { describe, expect, it } from 'vitest'
import { definePrompt, defineSection, defineTool, md, ok, runAgent } from '../entries/index.ts'
import { INTERFACES } from '../adapters/hostile-replies.fixtures.ts'
import { z } from 'zod'

const HALF = '\ud83d'
const odd = defineTool({
  name: 'look',
  description: `Looks ${HALF}`,
  params: { type: 'object', properties: { at: { type: 'string', description: HALF, default: HALF } } },
  execute: () => ok(`Saw ${HALF}`),
})
const params = z.object({ who: z.string() })
const bound = definePrompt({
  ns: 'test',
  key: 'odd',
  sections: [defineSection({ key: 'role', title: 'Role', params, template: md`Help ${'who'}.`, tools: [odd] })],
}).bind({ who: HALF })

describe.each(Object.entries(INTERFACES))('half of an emoji over %s', (_name, serve) => {
  it('R37 reaches no request: from values, tools, results, the user or the model', async () => {
    const text = `{"at":"${String.raw`\ud83d`}"}`
    const server = serve([
      { calls: [{ id: 'a', name: 'look', text: '{"at":"x"}' }] },
      { calls: [{ id: 'b', name: 'look', text }] },
      { says: HALF },
      { says: 'x' },
    ])
    const { adapter } = server
    const { state } = await runAgent(bound, { adapter, input: `Look ${HALF}` })
    await runAgent(bound, { adapter, state, input: [{ type: 'text', text: HALF }] })
    expect(server.requests).toHaveLength(4)
    for (const request of server.requests) expect(request).not.toMatch(/\\ud[89a-f]/i)
    expect(server.requests[3]).toContain('Saw \ufffd')
  })
})
