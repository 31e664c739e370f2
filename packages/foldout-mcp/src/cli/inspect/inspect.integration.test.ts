import { spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, describe, expect, it } from 'vitest'
import { removeFolder } from '../../remove-folder.fixtures.ts'

const BIN = join(import.meta.dirname, '../../../bin/foldout.js')
const folder = mkdtempSync(join(tmpdir(), 'foldout-inspect-'))
afterAll(() => removeFolder(folder))

function write(name: string, text: string): string {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

describe('R59 foldout inspect --mcp', () => {
  it('serves a recording to the agent that started it', async () => {
    const line = { version: 1, run: 'a', at: 1, event: { type: 'run/started', isResumed: false, input: 'Hello' } }
    const args = [BIN, 'inspect', write('runs.jsonl', `${JSON.stringify(line)}\n`), '--mcp']
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }))
    const { resources } = await client.listResources()
    expect(resources.map(({ uri }) => uri)).toEqual(['foldout://runs', 'foldout://runs/a'])
    await client.close()
  })

  it.each([
    [['--mcp'], 'Name the recording to serve'],
    [['missing.jsonl', '--mcp'], 'There is no file missing.jsonl'],
    [[write('notes.txt', 'nothing\n'), '--mcp'], 'is not a recording of runs'],
  ])('refuses %j', (more, message) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, 'inspect', ...more], {
      encoding: 'utf8',
      cwd: folder,
      input: '',
    })
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toContain(message)
  })
})
