// The resources and prompts of the full server.
import { acceptedContent, inputRequired } from '@modelcontextprotocol/server'

export const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
export const PAGE_SIZE = 100
/** Enough for several pages. */
const MANY = 230

const TEXT = 'text/plain'
const resources = [
  { uri: 'test://static-text', name: 'Static text', description: 'A text.', mimeType: TEXT },
  { uri: 'test://static-binary', name: 'Static image', description: 'An image.', mimeType: 'image/png' },
  { uri: 'test://watched-resource', name: 'Watched', description: 'Changes.', mimeType: TEXT },
  {
    uri: 'ui://widget/view.html',
    name: 'Widget',
    description: 'A view.',
    mimeType: 'text/html;profile=mcp-app',
    _meta: { ui: { prefersBorder: true } },
  },
  ...Array.from({ length: MANY }, (_, i) => ({
    uri: `test://many/${i}`,
    name: `Many ${i}`,
    description: 'One of many.',
    mimeType: TEXT,
    annotations: { audience: ['user'], priority: 0.5 },
  })),
]

export const templates = [
  {
    uriTemplate: 'test://template/{id}/data',
    name: 'Template',
    description: 'Data of an id.',
    mimeType: 'application/json',
  },
]

export function listResources({ resources: added }) {
  return [...resources, ...Array.from(added, (uri) => ({ uri, name: uri, description: 'Was added.', mimeType: TEXT }))]
}

export function readResource(uri) {
  const [, id] = /^test:\/\/template\/([^/]+)\/data$/.exec(uri) ?? []
  if (id !== undefined) {
    const data = { id, templateTest: true, data: `Data for ID: ${id}` }
    return { uri, mimeType: 'application/json', text: JSON.stringify(data) }
  }
  if (uri === 'test://static-text')
    return { uri, mimeType: TEXT, text: 'This is the content of the static text resource.' }
  if (uri === 'test://static-binary') return { uri, mimeType: 'image/png', blob: PIXEL }
  if (uri === 'test://watched-resource') return { uri, mimeType: TEXT, text: 'Watched.', _meta: { version: 1 } }
  if (uri === 'test://unlisted') return { uri, mimeType: TEXT, text: 'Named by a result only.' }
  if (uri === 'ui://widget/view.html')
    return { uri, mimeType: 'text/html;profile=mcp-app', text: '<p>Hello</p>', _meta: { ui: { csp: {} } } }
  return /^test:\/\/many\/\d+$/.test(uri) ? { uri, mimeType: TEXT, text: uri } : undefined
}

const user = (...contents) => ({ messages: contents.map((content) => ({ role: 'user', content })) })
const text = (value) => ({ type: 'text', text: value })

const prompts = {
  test_simple_prompt: {
    description: 'A prompt without arguments.',
    get: () => user(text('This is a simple prompt for testing.')),
  },
  test_prompt_with_arguments: {
    description: 'A prompt with arguments.',
    arguments: [
      { name: 'arg1', description: 'First test argument', required: true },
      { name: 'arg2', description: 'Second test argument', required: true },
    ],
    get: ({ arg1, arg2 }) => user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  },
  test_prompt_with_embedded_resource: {
    description: 'A prompt with a resource.',
    arguments: [{ name: 'resourceUri', description: 'The resource to embed', required: true }],
    get: ({ resourceUri: uri }) =>
      user(
        {
          type: 'resource',
          resource: { uri, mimeType: TEXT, text: 'Embedded resource content for testing.' },
        },
        text('Please process the embedded resource above.'),
      ),
  },
  test_prompt_with_image: {
    description: 'A prompt with an image.',
    get: () => user({ type: 'image', data: PIXEL, mimeType: 'image/png' }, text('Please analyze the image above.')),
  },
  test_input_required_result_prompt: {
    description: 'A prompt that asks for its context.',
    get(_, { mcpReq }) {
      const answer = acceptedContent(mcpReq.inputResponses, 'user_context')
      if (answer) return user(text(`Use this context: ${String(answer.context)}`))
      const properties = { context: { type: 'string' } }
      return inputRequired({
        inputRequests: {
          user_context: inputRequired.elicit({
            message: 'What context should the prompt use?',
            requestedSchema: { type: 'object', properties, required: ['context'] },
          }),
        },
      })
    },
  },
}

export function listPrompts({ prompts: added }) {
  return [
    ...Object.entries(prompts).map(([name, { description, arguments: args }]) => ({
      name,
      description,
      ...(args ? { arguments: args } : {}),
    })),
    ...Array.from(added, (name) => ({ name, description: 'Was added.' })),
  ]
}

export function getPrompt(name, args, context) {
  return Object.hasOwn(prompts, name) ? prompts[name].get(args, context) : undefined
}

export function completions({ type, name, uri }, value) {
  const of = type === 'ref/prompt' ? name : uri
  return ['paris', 'park', 'party'].filter((word) => word.startsWith(value.slice(0, 2))).map((word) => `${word} ${of}`)
}
