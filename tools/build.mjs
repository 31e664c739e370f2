// Compiles each package's src to dist from scratch, so that what was deleted in src does not linger in the package.
import { spawnSync } from 'node:child_process'
import { copyFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const library = `${root}/packages/foldout`

// npm packs these from the package's own folder.
for (const file of ['README.md', 'LICENSE', 'CHANGELOG.md']) copyFileSync(`${root}/${file}`, `${library}/${file}`)

rmSync(`${library}/dist`, { recursive: true, force: true })
const { status } = spawnSync(
  process.execPath,
  [`${root}/node_modules/typescript/bin/tsc`, '-p', 'tsconfig.build.json'],
  {
    cwd: library,
    stdio: 'inherit',
  },
)
process.exit(status ?? 1)
