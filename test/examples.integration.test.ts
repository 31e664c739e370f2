import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')
const examples = readdirSync(join(root, 'examples')).filter((file) => file.endsWith('.ts'))
// Offline, even if the machine has keys.
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/_API_KEY$|^COMPATIBLE_/.test(name)))

describe('examples', () => {
  it.each(examples)('%s runs offline and finds what it expects', (file) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', join('examples', file)], {
      cwd: root,
      env,
      encoding: 'utf8',
    })
    expect(status, `${stdout}\n${stderr}`).toBe(0)
    expect(stdout.length).toBeGreaterThan(100)
  })
})
