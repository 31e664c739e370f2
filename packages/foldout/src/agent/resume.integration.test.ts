import { spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { removeFolder } from '../../../../test/remove-folder.ts'

const folder = mkdtempSync(join(tmpdir(), 'foldout-resume-'))
afterAll(() => removeFolder(folder))
const fixture = join(import.meta.dirname, 'resume.fixtures.ts')

/** Runs the process, kills it once a number of calls are on disk, and returns its output. */
function runProcess(path: string, killAfter: number | undefined): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--import', 'tsx', fixture, path], { stdio: ['ignore', 'pipe', 'inherit'] })
    let text = ''
    child.stdout.setEncoding('utf8')
    child.stdout.on('data', (data: string) => {
      text += data
      if (killAfter !== undefined && text.split('ack ').length > killAfter) child.kill('SIGKILL')
    })
    child.on('error', reject)
    child.on('close', () => resolve(text.split('\n').slice(0, -1)))
  })
}

describe('R39 a run that is killed', () => {
  it('R39 is resumed by another process, and no completed call runs twice', async () => {
    const path = join(folder, 'run.db')
    const lines: string[] = []
    // Most processes are killed while one call of a turn is done and the other is not; the last one may finish.
    for (const killAfter of [1, 2, 3, 1, 3, 2, undefined]) lines.push(...(await runProcess(path, killAfter)))
    const acknowledged = new Set<string>()
    const twice: string[] = []
    for (const line of lines) {
      const [what, n] = line.split(' ') as [string, string]
      if (what === 'ack') acknowledged.add(n)
      if (what === 'exec' && acknowledged.has(n)) twice.push(n)
    }
    expect(twice).toEqual([])
    const end = lines.at(-1)!
    expect(end).toMatch(/^end /)
    const numbers = [0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11].flatMap((turn) => [turn * 2, turn * 2 + 1])
    const result = JSON.parse(end.slice(4)) as { text: string; done: number[]; turns: number }
    expect(result).toMatchObject({ text: 'Done.', turns: 13 })
    // Every call took effect once, whatever happened in between.
    expect(result.done.toSorted((a, b) => a - b)).toEqual(numbers)
  }, 60_000)
})
