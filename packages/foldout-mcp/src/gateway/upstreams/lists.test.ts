import type { McpSession } from 'foldout/mcp'
import { expect, it } from 'vitest'
import { NO_LISTS, readLists } from './lists.ts'

it('R53 lists that a server declares and does not have are empty, and reported with the request that failed', async () => {
  const session = {
    server: { capabilities: { resources: {}, prompts: {} } },
    request: () => Promise.reject(new Error('Method not found')),
  } as unknown as McpSession
  const problems: unknown[] = []
  const lists = await readLists(session, new AbortController().signal, (error) =>
    problems.push((error as Error).message),
  )
  expect(lists).toEqual(NO_LISTS)
  expect(problems).toEqual([
    'resources/list failed: Method not found. Its tools are not affected.',
    'prompts/list failed: Method not found. Its tools are not affected.',
  ])
})

it('R53 all lists of a server together are read up to a size, and the rest is reported', async () => {
  let pages = 0
  const session = {
    server: { capabilities: { prompts: {}, resources: {} } },
    async request(method: string) {
      const items = [{ name: `${method} ${pages}`, description: 'x'.repeat(10_000_000) }]
      return { prompts: items, resources: items, resourceTemplates: items, nextCursor: String(pages++) }
    },
  } as unknown as McpSession
  const notes: unknown[] = []
  const lists = await readLists(session, new AbortController().signal, (error) => notes.push((error as Error).message))
  expect(Object.values(lists).flat()).toHaveLength(3)
  expect(pages).toBe(6)
  const reason = 'the lists of the server have more than 33554432 bytes. Its tools are not affected.'
  expect(notes).toEqual(
    ['resources/list', 'resources/templates/list', 'prompts/list'].map(
      (method) => `${method}: only the first 1 are used, because ${reason}`,
    ),
  )
})

it('R53 a list is read up to a number, and the rest is reported', async () => {
  const session = {
    server: { capabilities: { prompts: {} } },
    request: async () => ({ prompts: Array.from({ length: 10_001 }, (_, i) => ({ name: `a${i}` })) }),
  } as unknown as McpSession
  const notes: unknown[] = []
  const { prompts } = await readLists(session, new AbortController().signal, (error) => notes.push(error))
  expect(prompts).toHaveLength(10_000)
  expect(String(notes)).toContain('only the first 10000 are used, because the list has more')
})

it('R53 an item that is too deep to be passed on is left out, and no other', async () => {
  const deep = JSON.parse(`{"name":"deep","x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`) as object
  const session = {
    server: { capabilities: { prompts: {} } },
    request: async () => ({ prompts: [{ name: 'a' }, deep, 'text', null, { name: 'b' }] }),
  } as unknown as McpSession
  const { prompts } = await readLists(session, new AbortController().signal, () => undefined)
  expect(prompts.map(({ name }) => name)).toEqual(['a', 'b'])
})
