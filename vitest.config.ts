import { mkdtempSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['**/node_modules/**', 'test/consumer/**'],
    // A machine that does other things too may take several times as long. A test that hangs still ends.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
    setupFiles: ['test/setup.ts'],
    // Tests wait for half of the time: for processes, deadlines and servers. So there are more workers than cores.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    // Gateways keep the user's decisions there. Tests must not change those of the person who runs them.
    env: { XDG_DATA_HOME: mkdtempSync(join(tmpdir(), 'foldout-data-')) },
    coverage: { provider: 'v8', include: ['packages/*/src/**'], exclude: ['**/*.test.ts'] },
  },
})
