import { mkdtempSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

const TESTS = ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts']
/** Tests that start processes, databases or browsers, or install packages. `npm run test:integration` runs them. */
const INTEGRATION = [
  '**/*.integration.test.ts',
  'test/{ai-sdk,ai-sdk-7,browser,claude-agent,fleet,mcp-clients,mcp-servers,minilm}/**/*.test.ts',
]
const EXCLUDED = ['**/node_modules/**', 'test/consumer/**']

/** `npm test` uses vitest's own mode, `test`. Modes such as `whole` run more of some tests, in either tier. */
function chooseTests(mode: string): { include: string[]; exclude: string[] } {
  if (mode === 'test') return { include: TESTS, exclude: [...EXCLUDED, ...INTEGRATION] }
  if (mode === 'integration') return { include: INTEGRATION, exclude: EXCLUDED }
  return { include: TESTS, exclude: EXCLUDED }
}

export default defineConfig(({ mode }) => ({
  test: {
    ...chooseTests(mode),
    // A machine that does other things too may take several times as long. A test that hangs still ends.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
    setupFiles: ['test/setup.ts', ...(mode === 'test' ? ['test/no-processes.ts'] : [])],
    // Tests wait for half of the time: for processes, deadlines and servers. So there are more workers than cores.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    // Gateways keep the user's decisions there. Tests must not change those of the person who runs them.
    env: { XDG_DATA_HOME: mkdtempSync(join(tmpdir(), 'foldout-data-')) },
    coverage: { provider: 'v8', include: ['packages/*/src/**'], exclude: ['**/*.test.ts'] },
  },
}))
