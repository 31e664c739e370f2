import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { removeFolder } from '../../../../test/remove-folder.ts'

const folder = mkdtempSync(join(tmpdir(), 'foldout-two-'))
afterAll(() => removeFolder(folder))
const fixture = join(import.meta.dirname, 'two-processes.fixtures.ts')

interface Started {
  readonly child: ChildProcess
  /** Waits until the process has printed a line that begins with a text. */
  printed(line: string): Promise<void>
  readonly end: Promise<string>
}

function start(name: string, ...options: readonly string[]): Started {
  const paths = [join(folder, `${name}.db`), join(folder, `${name}.txt`)]
  const child = spawn(process.execPath, ['--import', 'tsx', fixture, ...paths, ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (data: string) => void (text += data))
  const end = new Promise<string>((resolve) => child.on('close', () => resolve(text.trim().split('\n').at(-1) ?? '')))
  return {
    child,
    end,
    async printed(line) {
      await expect.poll(() => text, { timeout: 30_000 }).toContain(line)
    },
  }
}
const readEffects = (name: string): readonly string[] =>
  readFileSync(join(folder, `${name}.txt`), 'utf8')
    .trim()
    .split('\n')

describe('R39 two processes with one session', () => {
  it('R39 run its tool once: the second is refused, and the first goes on', async () => {
    // The second process has to start while the call of the first is running, also on a busy machine.
    const first = start('live', '1000', 'refuse', '1', '10000')
    await first.printed('paying')
    const second = start('live')
    expect(await second.end).toBe('refused run-busy')
    expect(await first.end).toBe('end Done.')
    expect(readEffects('live')).toEqual([String(first.child.pid)])
  }, 60_000)

  it('R39 take turns if the second waits, and it sees what the first has done', async () => {
    const first = start('waits')
    await first.printed('paying')
    const second = start('waits', '1000', 'wait')
    expect(await first.end).toBe('end Done.')
    expect(await second.end).toBe('end Done.')
    expect(readEffects('waits')).toEqual([String(first.child.pid)])
  }, 60_000)

  it('R39 take over from a frozen process, which writes and runs nothing when it wakes up', async () => {
    const first = start('frozen', '1000', 'refuse', '3')
    await first.printed('paying')
    first.child.kill('SIGSTOP')
    const second = start('frozen', '1000', 'wait', '3')
    expect(await second.end).toBe('end Done.')
    first.child.kill('SIGCONT')
    expect(await first.end).toMatch(/^refused (lease-lost|store-conflict)$/)
    const effects = readEffects('frozen')
    // The model was told that the outcome of the first call is unknown, and called the tool twice more.
    expect(effects).toEqual([first, second, second].map(({ child }) => String(child.pid)))
  }, 60_000)
})
