import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

const TESTS = ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts']
/** Tests that start processes, databases or browsers, or install packages. `npm run test:integration` runs them. */
const INTEGRATION = [
  '**/*.integration.test.ts',
  'test/{ai-sdk,ai-sdk-7,browser,claude-agent,evals,fleet,langchain,mastra,mcp-clients,mcp-servers,minilm,openai-agents,promptfoo}/**/*.test.ts',
]
const EXCLUDED = ['**/node_modules/**', 'test/consumer/**']

/** The packages of other people's loops are installed by their tests. A test of another version replaces these files. */
const HOST_PACKAGES = Object.entries({
  langchain: 'langchain/node_modules/langchain/dist/index.js',
  '@langchain/langgraph': 'langchain/node_modules/@langchain/langgraph/dist/index.js',
  '@mastra/core/tools': 'mastra/node_modules/@mastra/core/dist/tools/index.js',
  '@openai/agents': 'openai-agents/node_modules/@openai/agents/dist/index.mjs',
}).map(([name, path]) => ({ find: new RegExp(`^${name}$`), replacement: join(import.meta.dirname, 'test', path) }))

/** `npm test` uses vitest's own mode, `test`. Modes such as `whole` run more of some tests, in either tier. */
function chooseTests(mode: string): { include: string[]; exclude: string[] } {
  if (mode === 'test') return { include: TESTS, exclude: [...EXCLUDED, ...INTEGRATION] }
  if (mode === 'integration') return { include: INTEGRATION, exclude: EXCLUDED }
  return { include: TESTS, exclude: EXCLUDED }
}

export default defineConfig(({ mode }) => ({
  resolve: { alias: HOST_PACKAGES },
  test: {
    ...chooseTests(mode),
    // Without processes of their own, test files load the source once per worker: the tests take half of the time.
    isolate: mode !== 'test',
    // A machine that does other things too may take several times as long. A test that hangs still ends.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
    globalSetup: ['test/data-folder.ts', ...(mode === 'integration' ? ['test/host-packages.ts'] : [])],
    setupFiles: ['test/setup.ts', 'test/ignored-errors.ts', ...(mode === 'test' ? ['test/no-processes.ts'] : [])],
    // Tests wait for half of the time: for processes, deadlines and servers. So there are more workers than cores.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    coverage: { provider: 'v8', include: ['packages/*/src/**'], exclude: ['**/*.test.ts'] },
  },
}))
