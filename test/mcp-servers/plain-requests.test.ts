import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCatalog } from '../../packages/foldout/src/catalog/live/catalog.ts'
import type { Catalog } from '../../packages/foldout/src/catalog/contract.ts'
import { toolsFromMcp } from '../../packages/foldout/src/mcp/tools-from/tools-from-mcp.ts'
import { installServers, startServer } from './harness.ts'
import { removeFolder } from '../remove-folder.ts'

/** Everyday requests with the tools that fulfill them, none of which is described in these words. */
const REQUESTS: readonly (readonly [request: string, ...tools: string[]])[] = [
  ['remember that Ann likes lamps', 'add_observations', 'create_entities'],
  ['save a note about a customer', 'add_observations', 'create_entities', 'write_file'],
  ['forget Ann', 'delete_entities', 'delete_observations'],
  ['show a picture', 'read_media_file', 'get-tiny-image'],
  ['what do you know about Ann', 'search_nodes', 'open_nodes', 'read_graph'],
  ['who works with Bob', 'search_nodes', 'open_nodes', 'read_graph'],
  ['Ann is the sister of Bob', 'create_relations'],
  ['add two and three', 'get-sum'],
  ['what is in this folder', 'list_directory', 'directory_tree', 'list_directory_with_sizes'],
  ['make a new folder', 'create_directory'],
  ['rename a document', 'move_file'],
  ['how big is this file', 'get_file_info', 'list_directory_with_sizes'],
  ['find my notes', 'search_files', 'search_nodes'],
  ['change a line in a letter', 'edit_file'],
  ['play a song', 'read_media_file'],
  ['zip a file', 'gzip-file-as-resource'],
  ['say hello back to me', 'echo'],
  ['which folders may you see', 'list_allowed_directories'],
  ['open several documents at once', 'read_multiple_files'],
]
/** How many of them must find a right tool. */
const FEWEST_RIGHT = 14

describe('plain requests to real servers', () => {
  let folder: string
  let catalog: Catalog
  const clients: Awaited<ReturnType<typeof startServer>>[] = []

  beforeAll(async () => {
    installServers()
    folder = mkdtempSync(join(tmpdir(), 'foldout-plain-requests-'))
    const env = { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') }
    clients.push(
      await startServer('v2', 'everything'),
      await startServer('v2', 'filesystem', [folder]),
      await startServer('v2', 'memory', [], env),
    )
    catalog = createCatalog((await Promise.all(clients.map(async (client) => toolsFromMcp(client)))).flat())
  }, 300_000)
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.close()))
    await removeFolder(folder)
  })

  it.each(REQUESTS)('R45 "%s" is answered with tools, if only as guesses', async (request) => {
    const { hits, fit } = await catalog.search(request)
    expect(fit).not.toBe('none')
    expect(hits.length).toBeGreaterThan(0)
  })

  it('R45 most are answered with a right tool', async () => {
    const wrong: string[] = []
    for (const [request, ...right] of REQUESTS) {
      const { hits } = await catalog.search(request)
      if (!hits.some(({ tool }) => right.includes(tool.declared))) wrong.push(request)
    }
    expect(wrong.length).toBeLessThanOrEqual(REQUESTS.length - FEWEST_RIGHT)
  })

  it('R45 unrelated requests are marked as doubtful', async () => {
    for (const request of ['book a flight to Rome', 'quarterly tax statement', 'knead the dough of a bread'])
      expect((await catalog.search(request)).fit).not.toBe('good')
  })
})
