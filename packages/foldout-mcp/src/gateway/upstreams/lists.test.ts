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

it('R53 a list is read up to a size, on one page or on many', async () => {
  let pages = 0
  const session = {
    server: { capabilities: { prompts: {} } },
    async request() {
      const prompts = [{ name: `a${pages}`, description: 'x'.repeat(20_000_000) }]
      return { prompts, nextCursor: String(pages++) }
    },
  } as unknown as McpSession
  const { prompts } = await readLists(session, new AbortController().signal, () => undefined)
  expect(prompts.map(({ name }) => name)).toEqual(['a0', 'a1', 'a2'])
  expect(pages).toBe(4)
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
