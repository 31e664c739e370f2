import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it, vi } from 'vitest'
import { createDisclosure } from '../../packages/foldout/src/entries/ai-sdk.ts'
import { createSession, definePrompt, defineSection, defineTool, ok } from '../../packages/foldout/src/entries/index.ts'
import { hostSuite } from '../../packages/foldout/src/entries/testing-suites.ts'
import { createHostAgent, createModel, type AiPackage } from '../ai-sdk/host.ts'
import { installProviders } from '../ai-sdk/harness.ts'

installProviders(import.meta.dirname)

const load = (): Promise<unknown> =>
  import(pathToFileURL(join(import.meta.dirname, 'node_modules/ai/dist/index.js')).href)

// The library imports its user's AI SDK, which is version 7 here.
vi.mock(
  '../../node_modules/ai/dist/index.mjs',
  () => import(pathToFileURL(join(import.meta.dirname, 'node_modules/ai/dist/index.js')).href),
)

const ai = (await load()) as AiPackage

hostSuite('AI SDK 7', { create: (setup) => createHostAgent(ai, setup) })

const pay = defineTool({ name: 'pay', description: 'Pays.', needsApproval: () => 'Money.', execute: () => ok('Paid.') })
const till = defineSection({ key: 'till', title: 'Till', template: 'Pay.', tools: [pay] })
const bound = definePrompt({ ns: 't', key: 't', sections: [till] }).bind()

async function ask(replaced: object = {}): Promise<string> {
  const script = [{ calls: [{ id: 'a', name: 'pay', arguments: {} }] }, { text: 'Done.' }]
  const model = createModel({ model: () => script.shift() ?? { text: 'Done.' } })
  const disclosure = await createDisclosure({ prompt: bound, session: createSession() })
  const settings = { model, ...disclosure, ...replaced, prompt: 'Go.', stopWhen: ai.stepCountIs(3) }
  const { steps } = await ai.generateText(settings)
  return JSON.stringify(
    steps.map(({ content }) => content),
    (_, value: unknown) => (value instanceof Error ? value.message : value),
  )
}

it('R73 AI SDK 7 shows a person why a call needs approval', async () => {
  expect(await ask()).toContain('"reason":"Money."')
})

it('R73 AI SDK 7 runs no call unasked if the application replaces the approvals by its own', async () => {
  const content = await ask({ toolApproval: () => undefined })
  expect(content).toContain('was not run: a person has to approve it first')
  expect(content).not.toContain('Paid.')
})
