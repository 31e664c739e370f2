import { fork, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { PromptOverrides } from '../../entries/overrides.ts'
import { createOverrideStore, type OverrideStore } from '../../entries/node.ts'
import { prompt, tag, temporaryStore, type TemporaryStore } from './store.fixtures.ts'
import { shared } from './writer.fixtures.ts'
import { takeTurns } from '../../../../../test/turns.ts'

let temporary: TemporaryStore
let store: OverrideStore
let root: string
let path: string
beforeEach(() => {
  temporary = temporaryStore()
  ;({ store, root, path } = temporary)
})
afterEach(() => temporary.remove())

describe('writing at the same time', () => {
  const writer = fileURLToPath(new URL('writer.fixtures.ts', import.meta.url))
  const started: ChildProcess[] = []
  async function start(...args: string[]): Promise<ChildProcess> {
    const child = fork(writer, args, { execArgv: ['--import', 'tsx'] })
    started.push(child)
    await once(child, 'message')
    return child
  }
  afterEach(() => {
    for (const child of started.splice(0)) child.kill('SIGKILL')
  })
  const sharedPath = (): string => join(root, 'test', 'shared', 'stable.json')
  const written = () => (JSON.parse(readFileSync(sharedPath(), 'utf8')) as PromptOverrides).sections!
  const allWritten = Object.fromEntries(
    shared.descriptor.sections.map(({ path, hash }, i) => [path, { hash, body: `New ${i}.` }]),
  )

  it('R16 loses no write when 4 processes find an abandoned lock and write 25 sections each', async () => {
    const children = await Promise.all([0, 25, 50, 75].map((from) => start('write', root, String(from))))
    mkdirSync(dirname(sharedPath()), { recursive: true })
    const { pid } = spawnSync(process.execPath, ['-e', ''])
    writeFileSync(`${sharedPath()}.lock`, JSON.stringify({ pid, host: hostname(), token: 'left' }))
    const ended = children.map(async (child) => {
      child.send('go')
      const [code] = (await once(child, 'exit')) as [number]
      return code
    })
    expect(await Promise.all(ended)).toEqual([0, 0, 0, 0])
    expect(written()).toEqual(allWritten)
    expect(Object.keys(written())).toEqual(Object.keys(allWritten))
    expect(readdirSync(dirname(sharedPath()))).toEqual(['stable.json'])
  }, 60_000)

  it('R16 loses none of 100 writes by one process through two stores', async () => {
    const stores = [store, createOverrideStore({ root })]
    await Promise.all(
      Object.entries(allWritten).map(([path, { body }], i) =>
        stores[i % 2]!.upsert(shared, { tag, section: { path, body } }),
      ),
    )
    expect(written()).toEqual(allWritten)
  })

  it('R16 waits for another process, but not for long once it was killed while holding the lock', async () => {
    const holder = await start('hold', `${sharedPath()}.lock`)
    let isDone = false
    const upsert = store.upsert(shared, { tag, section: { path: 's7', body: 'N.' } }).then(() => (isDone = true))
    await takeTurns()
    expect(isDone).toBe(false)
    holder.kill('SIGKILL')
    await once(holder, 'exit')
    const killedAt = Date.now()
    await upsert
    expect(Date.now() - killedAt).toBeLessThan(4_500)
    expect(Object.keys(written())).toEqual(['s7'])
    expect(readdirSync(dirname(sharedPath()))).toEqual(['stable.json'])
  })

  it('R16 always shows readers a whole file', async () => {
    const child = await start('write', root, '0')
    const ended = once(child, 'exit')
    child.send('go')
    let reads = 0
    while (child.exitCode === null) {
      const resolved = await store.resolve(shared, { tag })
      if (resolved) reads++
      await takeTurns(1)
    }
    await ended
    expect(reads).toBeGreaterThan(1)
    expect(Object.keys(written())).toHaveLength(25)
  })

  it('R16 removes the files that killed writers left behind, and nothing else', async () => {
    await store.seed(prompt, { tag })
    const folder = dirname(path)
    const id = '00000000-0000-4000-8000-000000000000'
    const others = [`.other.json.${id}.tmp`, 'notes.tmp', `other.json.lock.${id}.old`]
    for (const name of [`.stable.json.${id}.tmp`, `stable.json.lock.${id}.old`, ...others]) {
      writeFileSync(join(folder, name), '{')
    }
    await store.upsert(prompt, { tag, section: { path: 'task', body: 'T.' } })
    expect(readdirSync(folder).sort()).toEqual([...others, 'stable.json'].sort())
  })

  it.skipIf(process.platform === 'win32')('R16 keeps the mode of a file', async () => {
    await store.seed(prompt, { tag })
    chmodSync(path, 0o640)
    await store.upsert(prompt, { tag, section: { path: 'task', body: 'T.' } })
    expect(statSync(path).mode & 0o777).toBe(0o640)
  })
})
