// The full server, as seen by one client.
import { McpServer, ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from '@modelcontextprotocol/server'
import { completions, getPrompt, listPrompts, listResources, PAGE_SIZE, readResource, templates } from './content.mjs'
import { createLaterTools } from './later.mjs'
import { createTools } from './tools.mjs'

const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
}

export function createFullServer(state) {
  const mcp = new McpServer(
    { name: 'full', version: '1.0.0' },
    { capabilities: CAPABILITIES, requestState: { verify: state.codec.verify } },
  )
  const { server } = mcp
  const tools = { ...createTools(state), ...createLaterTools(state) }
  /** The subscriptions of a legacy client; the SDK keeps track of modern ones. */
  const subscribed = new Set()
  const listTools = () => [
    ...Object.entries(tools).map(([name, tool]) => {
      const { description, inputSchema = { type: 'object' }, outputSchema, annotations, _meta: meta } = tool
      const definition = { name, description, inputSchema }
      if (outputSchema) Object.assign(definition, { outputSchema })
      if (annotations) Object.assign(definition, { annotations })
      return meta ? { ...definition, _meta: meta } : definition
    }),
    ...Array.from(state.tools, (name) => ({ name, description: 'Was added.', inputSchema: { type: 'object' } })),
  ]
  // The SDK needs this to check headers that carry arguments.
  mcp.toolInputSchemaJson = (name) => (Object.hasOwn(tools, name) ? tools[name].inputSchema : undefined)

  server.setRequestHandler('tools/list', () => ({ tools: listTools() }))
  server.setRequestHandler('tools/call', ({ params }, context) => {
    if (!Object.hasOwn(tools, params.name))
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Tool ${params.name} not found`)
    return tools[params.name].call(params.arguments ?? {}, context, { server, params })
  })
  server.setRequestHandler('resources/list', ({ params }) => page('resources', listResources(state), params?.cursor))
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: templates }))
  server.setRequestHandler('resources/read', ({ params: { uri } }) => {
    const contents = readResource(uri)
    if (!contents) throw new ResourceNotFoundError(uri)
    return { contents: [contents], _meta: { 'example.com/read': true } }
  })
  server.setRequestHandler('resources/subscribe', ({ params: { uri } }) => {
    if (!subscribed.has(uri)) state.subscriptions++
    subscribed.add(uri)
    return {}
  })
  server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    if (subscribed.delete(uri)) state.subscriptions--
    return {}
  })
  server.setRequestHandler('prompts/list', () => ({ prompts: listPrompts(state) }))
  server.setRequestHandler('prompts/get', ({ params }, context) => {
    const prompt = getPrompt(params.name, params.arguments ?? {}, context)
    if (!prompt) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Prompt ${params.name} not found`)
    return prompt
  })
  server.setRequestHandler('completion/complete', ({ params: { argument, ref } }) => ({
    completion: { values: completions(ref, argument.value), total: 150, hasMore: false },
  }))
  return {
    mcp,
    async announce(kind) {
      if (kind === 'tools') await server.sendToolListChanged()
      if (kind === 'prompts') await server.sendPromptListChanged()
      if (kind === 'resources') await server.sendResourceListChanged()
    },
    async update(uri) {
      const isLegacy = server.getNegotiatedProtocolVersion?.() !== '2026-07-28'
      if (!isLegacy || subscribed.has(uri)) await server.sendResourceUpdated({ uri })
    },
  }
}

function page(field, items, cursor) {
  const start = cursor === undefined ? 0 : Number(cursor)
  if (!Number.isInteger(start)) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Unknown cursor')
  const end = start + PAGE_SIZE
  return { [field]: items.slice(start, end), ...(end < items.length ? { nextCursor: String(end) } : {}) }
}
