import { hybrid } from '../../catalog/exposures/hybrid.ts'
import { createCatalog } from '../../catalog/live/catalog.ts'
import { manyKinds } from './catalog.fixtures.ts'
import { serveMcp } from './serve-mcp.ts'

// A server as a client starts it, with a tool that prints where it should not.
const catalog = createCatalog([
  {
    name: 'chatty',
    description: 'Prints to standard output.',
    async call() {
      console.log('this is not the protocol')
      process.stdout.write('neither is this\n')
      return { content: [{ type: 'text', text: 'said' }] }
    },
  },
  {
    name: 'flood',
    description: 'Answers with a long text.',
    inputSchema: { type: 'object', properties: { characters: { type: 'integer' }, padding: { type: 'string' } } },
    call: async ({ characters }) => ({ content: [{ type: 'text', text: 'x'.repeat(Number(characters)) }] }),
  },
])
for (const tool of manyKinds().tools)
  catalog.add([
    {
      name: tool.declared,
      description: tool.description,
      core: tool.core,
      inputSchema: tool.inputSchema,
      call: (args, context) => manyKinds().call(tool.qualified, args, context),
    },
  ])
const { closed } = await serveMcp(catalog, { name: 'home', version: '1.0.0', expose: hybrid() }).stdio()
await closed
process.stderr.write('gone\n')
