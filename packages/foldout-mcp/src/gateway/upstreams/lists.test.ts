import type { Client } from '@modelcontextprotocol/client'
import { expect, it } from 'vitest'
import { NO_LISTS, readLists } from './lists.ts'

it('R53 lists that a server declares and does not have are empty, and reported with the request that failed', async () => {
  const client = {
    getServerCapabilities: () => ({ resources: {}, prompts: {} }),
    request: () => Promise.reject(new Error('MCP error -32601: Method not found')),
  } as unknown as Client
  const problems: unknown[] = []
  const lists = await readLists(client, new AbortController().signal, (error) =>
    problems.push((error as Error).message),
  )
  expect(lists).toEqual(NO_LISTS)
  expect(problems).toEqual([
    'resources/list failed: MCP error -32601: Method not found. Its tools are not affected.',
    'prompts/list failed: MCP error -32601: Method not found. Its tools are not affected.',
  ])
})
