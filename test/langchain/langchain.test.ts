import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import {
  definePrompt,
  defineSection,
  defineTool,
  ok,
  type AnyTool,
  type BoundPrompt,
} from '../../packages/foldout/src/entries/index.ts'
import {
  hostSuite,
  type HostSetup,
  type ScriptedReply,
  type SeenRequest,
} from '../../packages/foldout/src/entries/testing-suites.ts'
import { installPackages } from '../../tools/install-packages.ts'
import { createHostAgent, loadLangChain, type CreateAgent } from './harness.ts'

installPackages(import.meta.dirname)

const packages = await loadLangChain(import.meta.dirname)

const named = (name: string): AnyTool => defineTool({ name, description: 'Does it.', execute: () => ok('Done.') })
const refunds = defineSection({
  key: 'refunds',
  title: 'Refunds',
  template: 'All of it.',
  summary: 'About refunds.',
  visibility: 'summary',
  tools: [named('refund')],
})
const bound = definePrompt({ ns: 'test', key: 'shop', sections: [refunds] }).bind() as BoundPrompt

hostSuite('LangChain 1.5', { create: (setup) => createHostAgent(packages, setup) })

const { createDeepAgent } = (await import(
  pathToFileURL(join(import.meta.dirname, 'node_modules/deepagents/dist/index.js')).href
)) as { readonly createDeepAgent: CreateAgent }

hostSuite('deepagents 1.14', {
  ownTools: ['look_up', 'ls', 'read_file', 'write_file', 'edit_file', 'delete', 'glob', 'grep', 'task'],
  create: (setup) =>
    createHostAgent(packages, setup, (options, own) => createDeepAgent({ ...options, middleware: [own] }, {})),
})

describe('foldoutMiddleware', () => {
  it('R73 text that context editing clears comes back, although only the request lacks it', async () => {
    const { contextEditingMiddleware, ClearToolUsesEdit } = packages.langchain
    const editing = contextEditingMiddleware({
      edits: [new ClearToolUsesEdit({ trigger: { messages: 4 }, keep: { messages: 0 } })],
    })
    const requests: SeenRequest[] = []
    const script: ScriptedReply[] = [
      { calls: [{ id: 'a', name: 'read_section', arguments: { section_key: 'refunds' } }] },
    ]
    const setup: HostSetup = {
      bound,
      options: {},
      model: (request) => {
        requests.push(request)
        return script.shift() ?? { text: 'Done.' }
      },
    }
    const agent = createHostAgent(packages, setup, (options, own) =>
      packages.langchain.createAgent({ ...options, middleware: [editing, own] }),
    )
    await agent.send('One.')
    await agent.send('Two.')
    expect(requests.map(({ results }) => results)).toEqual([[], [expect.stringContaining('All of it.')], ['[cleared]']])
    expect(requests.map(({ system }) => system.includes('All of it.'))).toEqual([false, false, true])
    expect(requests[2]?.tools).toEqual(['look_up', 'read_section', 'refund'])
  })

  it('R73 two tools of one name are refused, as a model cannot tell them apart', async () => {
    const clash = definePrompt({
      ns: 't',
      key: 't',
      sections: [defineSection({ key: 'a', title: 'A', template: 'A.', tools: [named('look_up')] })],
    })
    const setup: HostSetup = { bound: clash.bind(), options: {}, model: () => ({ text: '' }) }
    await expect(createHostAgent(packages, setup).send('Go.')).rejects.toThrow(
      "Both the prompt and the host have a tool 'look_up'. Rename one of them.",
    )
  })
})
