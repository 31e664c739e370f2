import * as ai from 'ai'
import { expect, it, onTestFinished } from 'vitest'
import { createReadmeModel, getReadmeCode, runReadmeCode } from '../readme-code.ts'
import { createModel } from './host.ts'

it('R74 the code of the README folds a skill with its tool in twelve lines of the AI SDK, and runs', async () => {
  const code = getReadmeCode('foldout/ai-sdk')
  expect(code.split('\n').filter((line) => line !== '').length).toBeLessThanOrEqual(12)
  const { requests, model } = createReadmeModel()
  // Where the SDK finds models that are only named.
  const names = globalThis as { AI_SDK_DEFAULT_PROVIDER?: unknown }
  names.AI_SDK_DEFAULT_PROVIDER = { languageModel: () => createModel({ model }) }
  onTestFinished(() => void delete names.AI_SDK_DEFAULT_PROVIDER)
  const lookUp = ai.tool({ inputSchema: ai.jsonSchema({ type: 'object' }), execute: () => 'Found.' })
  await runReadmeCode(code, { lookUp }, { ai })
  expect(requests.map(({ tools }) => tools.includes('refund'))).toEqual([false, true, true])
  expect(requests.at(-1)?.results.at(-1)).toBe('Refunded.')
})
