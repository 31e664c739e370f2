import { describe, expect, it } from 'vitest'
import {
  definePrompt,
  defineSection,
  defineTool,
  ok,
  type BoundPrompt,
} from '../../packages/foldout/src/entries/index.ts'
import {
  hostSuite,
  type HostSetup,
  type ScriptedReply,
  type SeenRequest,
} from '../../packages/foldout/src/entries/testing-suites.ts'
import { installPackages } from '../../tools/install-packages.ts'
import { createHostAgent, loadMastra, skips } from './harness.ts'

installPackages(import.meta.dirname)

const packages = await loadMastra(import.meta.dirname)

const refund = defineTool({ name: 'refund', description: 'Pays back.', execute: () => ok('Done.') })
const refunds = defineSection({
  key: 'refunds',
  title: 'Refunds',
  template: 'All of it.',
  summary: 'About refunds.',
  visibility: 'summary',
  tools: [refund],
})
const bound = definePrompt({ ns: 'test', key: 'shop', sections: [refunds] }).bind() as BoundPrompt

hostSuite('Mastra 1.71', { skips, create: (setup) => createHostAgent(packages, setup) })

describe('FoldoutProcessor', () => {
  it('R73 messages that memory no longer has take no tools with them, and their text comes back (mastra 16350)', async () => {
    const requests: SeenRequest[] = []
    const script: ScriptedReply[] = [
      { calls: [{ id: 'a', name: 'read_section', arguments: { section_key: 'refunds' } }] },
    ]
    const setup: HostSetup = {
      bound,
      options: {},
      model(request) {
        requests.push(request)
        return script.shift() ?? { text: 'Done.' }
      },
    }
    const agent = await createHostAgent(packages, setup, { lastMessages: 2 })
    for (const text of ['One.', 'Two.', 'Three.', 'Four.']) await agent.send(text)
    const last = requests.at(-1)
    expect(last?.results).toEqual([])
    expect(last?.system).toContain('All of it.')
    expect(last?.tools).toEqual(['look_up', 'read_section', 'refund'])
    expect(requests[1]?.system).not.toContain('All of it.')
  })
  it('R84 messages that memory no longer has take nothing away that was opened for them', async () => {
    const requests: SeenRequest[] = []
    const script: ScriptedReply[] = [{ calls: [{ id: 'a', name: 'refund', arguments: {} }] }]
    const setup: HostSetup = {
      bound,
      options: { open: (input) => (input === 'One.' ? ['refunds'] : []) },
      model(request) {
        requests.push(request)
        return script.shift() ?? { text: 'Done.' }
      },
    }
    const agent = await createHostAgent(packages, setup, { lastMessages: 2 })
    for (const text of ['One.', 'Two.', 'Three.', 'Four.']) await agent.send(text)
    for (const request of requests) {
      expect(request.system).toContain('All of it.')
      expect(request.tools).toContain('refund')
    }
  })
})
