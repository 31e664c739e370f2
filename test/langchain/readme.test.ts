import { expect, it } from 'vitest'
import { installPackages } from '../../tools/install-packages.ts'
import { createReadmeModel, getReadmeCode, runReadmeCode } from '../readme-code.ts'
import { createLookUp, createModel, loadLangChain } from './harness.ts'

installPackages(import.meta.dirname)

const packages = await loadLangChain(import.meta.dirname)
it('R74 the code of the README folds a skill with its tool in twelve lines of LangChain, and runs', async () => {
  const code = getReadmeCode('foldout/langchain')
  expect(code.split('\n').filter((line) => line !== '').length).toBeLessThanOrEqual(12)
  const { requests, model } = createReadmeModel()
  const values = {
    model: createModel(packages, { model }),
    lookUp: createLookUp(packages),
    checkpointer: new packages.langgraph.MemorySaver(),
  }
  await runReadmeCode(code, values, { langchain: packages.langchain as object })
  expect(requests.map(({ tools }) => tools.includes('refund'))).toEqual([false, true, true])
  expect(requests.at(-1)?.results.at(-1)).toBe('Refunded.')
})
