import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { killTree } from './tree.ts'

describe('R54 a program that is killed', () => {
  const children: ChildProcess[] = []
  const start = (): ChildProcess => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
    children.push(child)
    return child
  }
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL')
  })

  it('takes along on Windows what it has started', async () => {
    const child = start()
    const run = vi.fn(async () => {
      child.kill('SIGKILL')
      await once(child, 'exit')
    })
    await killTree(child, { platform: 'win32', run })
    expect(run.mock.calls).toEqual([['C:\\Windows\\System32\\taskkill.exe', ['/pid', String(child.pid), '/t', '/f']]])
    await killTree(child, { platform: 'win32', run })
    // Its id may belong to another process by now.
    expect(run).toHaveBeenCalledOnce()
  })

  it('ends itself on Windows even if the program that kills is missing, and on other systems', async () => {
    const [first, second] = [start(), start()]
    const ends = [once(first, 'exit'), once(second, 'exit')]
    const run = vi.fn(async () => {
      throw new Error('missing')
    })
    await killTree(first, { platform: 'win32', run })
    await killTree(second, { platform: 'linux', run })
    await Promise.all(ends)
    expect(run).toHaveBeenCalledOnce()
  })
})
