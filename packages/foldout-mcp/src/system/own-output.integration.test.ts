import { spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { removeFolder } from '../remove-folder.fixtures.ts'

const BIN = join(import.meta.dirname, '../../bin/foldout.js')
const PROMPT = join(import.meta.dirname, '../cli/prompts/desk.fixtures.ts')

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'foldout-output-'))
})
afterAll(() => removeFolder(folder))

function write(name: string, text: string): string {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

function run(...args: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [BIN, ...args], { encoding: 'utf8', cwd: folder, input: '' })
}

describe('code of the user', () => {
  const CONFIG = "console.log('loading')\nexport default { mcpServers: {} }\n"

  it('prints to standard error while a configuration is loaded', () => {
    const file = write('noisy.config.ts', CONFIG)
    const served = run('serve', '--config', file)
    expect([served.status, served.stdout]).toEqual([0, ''])
    expect(served.stderr).toContain('loading\n')
    const listed = run('tools', '--config', file, '--json', '--quiet')
    expect(JSON.parse(listed.stdout)).toMatchObject({ tools: [] })
    expect(listed.stderr).toBe('loading\n')
  })

  it('prints to standard error while a prompt is loaded', () => {
    const file = write('noisy.mjs', `process.stdout.write('loading\\n')\nexport * from ${JSON.stringify(PROMPT)}\n`)
    const { stdout, stderr } = run('render', `${file}#clerk`, '--json')
    expect(JSON.parse(stdout)).toMatchObject({ prompt: 'desk/support' })
    expect(stderr).toBe('loading\n')
  })

  it('cannot end the program without a word', () => {
    const file = write('exiting.config.ts', '\nprocess.exit(7)\n')
    for (const words of [
      ['tools', '--config', file],
      ['render', file],
    ]) {
      const { status, stdout, stderr } = run(...words, '--json')
      expect([status, stderr]).toEqual([
        2,
        `${file} cannot be loaded. Line 2: process.exit(7) would end this program while it loads the file. Remove the call.\n`,
      ])
      expect(JSON.parse(stdout)).toMatchObject({ error: { exitCode: 2 } })
    }
  })
})
