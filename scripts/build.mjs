// Compiles src to dist from scratch, so that what was deleted in src does not linger in the package.
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
rmSync(`${root}/dist`, { recursive: true, force: true })
const { status } = spawnSync(
  process.execPath,
  [`${root}/node_modules/typescript/bin/tsc`, '-p', 'tsconfig.build.json'],
  {
    cwd: root,
    stdio: 'inherit',
  },
)
process.exit(status ?? 1)
