// Uses every subpath as a consumer would; run after compiling.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineSlice, openSession } from 'foldout'
import { gptTokenizer } from 'foldout/gpt-tokenizer'
import { createLibsqlStore } from 'foldout/libsql'
import { createHostFilesystem } from 'foldout/node'

assert.equal((await gptTokenizer()).count('hello world'), 2)

const folder = await mkdtemp(join(tmpdir(), 'foldout-consumer-'))
await createHostFilesystem(folder).write('a/b.txt', 'text')
assert.equal(await createHostFilesystem(folder).read('a/b.txt'), 'text')

const counter = defineSlice({ name: 'counter', initial: 0, reducers: { added: (state, by: number) => state + by } })
const path = join(folder, 'sessions.db')
const store = await createLibsqlStore({ path })
const session = await openSession({ store, id: 'one', slices: [counter] })
session.dispatch(counter.events.added(2))
await session.saved()
await store.close()
const again = await createLibsqlStore({ path })
assert.equal((await openSession({ store: again, id: 'one', slices: [counter] })).get(counter), 2)
await again.close()
await rm(folder, { recursive: true })
