import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')
const examples = readdirSync(join(root, 'examples')).filter((file) => file.endsWith('.ts'))
// Offline, even if the machine has keys.
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/_API_KEY$|^COMPATIBLE_/.test(name)))

const HOSTS = ['own-loop', 'langchain', 'openai-agents', 'mastra', 'ai-sdk', 'ai-sdk-7', 'claude-agent']

function run(file: string, ...args: readonly string[]): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', file, ...args], {
    cwd: root,
    env,
    encoding: 'utf8',
  })
  return { status, output: `${stdout}\n${stderr}` }
}

describe('examples', () => {
  it.each(examples)('%s runs offline and finds what it expects', (file) => {
    const { status, output } = run(join('examples', file))
    // The output tells what went wrong.
    expect({ status, output }).toMatchObject({ status: 0 })
    expect(output.length).toBeGreaterThan(100)
  })

  it('R80 the retail desk is compared on recorded replies, which it says, and their flaw is found', () => {
    const { status, output } = run('examples/retail/run.ts')
    expect({ status, output }).toMatchObject({ status: 0 })
    expect(output).toMatch(/^RECORDED REPLIES, not a model/m)
    expect(output).toMatch(/^full +100\.0 %.*base/m)
    expect(output).toMatch(/^folded missed exchange in 4 of 13 runs that needed it; 4 of these failed/m)
  })

  it.each(HOSTS)('R73 the loop of %s runs offline and finds what it expects', { timeout: 300_000 }, (host) => {
    const { status, output } = run('examples/hosts/run.ts', host)
    // The output tells what went wrong.
    expect({ status, output }).toMatchObject({ status: 0 })
    expect(output.length).toBeGreaterThan(100)
  })
})
