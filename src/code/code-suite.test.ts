import { gptTokenizer } from '../gpt-tokenizer/index.ts'
import { exposureSuite } from '../testing/index.ts'
import { code, createSandbox } from './index.ts'

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
