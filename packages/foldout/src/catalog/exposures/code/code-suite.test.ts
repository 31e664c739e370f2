import { gptTokenizer } from '../../../entries/gpt-tokenizer.ts'
import { exposureSuite } from '../../../entries/testing-suites.ts'
import { code, createSandbox } from '../../../entries/code.ts'

const counter = await gptTokenizer()
const sandbox = createSandbox()

exposureSuite('code', () => code({ sandbox }), {
  counter,
  lossless: false,
  driver: {
    toFind: (query) => ({ name: 'look_up_tools', arguments: { query } }),
    toRun: (tool, args) => ({
      name: 'run_code',
      arguments: { code: `return await tools['${tool}'](${JSON.stringify(args)})` },
    }),
  },
})
