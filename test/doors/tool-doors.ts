import { createSession, defineTool, executeTool, fail, fromJsonSchema, ok, type JsonSchema } from 'foldout'
import { createMemoryFilesystem, fileTools } from 'foldout/files'
import { jsonDoor, textDoor, type AnyDoor } from './door.ts'

const context = (filesystem = createMemoryFilesystem()) => ({
  session: createSession(),
  signal: new AbortController().signal,
  deadline: undefined,
  filesystem,
  prompt: undefined,
})
const strict = fromJsonSchema({
  type: 'object',
  properties: {
    name: { type: 'string', pattern: '^(a|aa)+$', minLength: 1 },
    list: { type: 'array', uniqueItems: true, items: { anyOf: [{ type: 'string' }, { $ref: '#' }] } },
    a: { $ref: '#' },
  },
  additionalProperties: false,
})
const checked = defineTool({ name: 'checked', description: 'x', params: strict, execute: () => ok('Done.') })
const echo = defineTool({
  name: 'echo',
  description: 'x',
  params: { type: 'object' },
  execute: (value) => ok('Done.', value),
})

const tools = new Map(fileTools().map((tool) => [tool.name, tool]))
const manyFiles = createMemoryFilesystem(
  Object.fromEntries(
    Array.from({ length: 200 }, (_, index) => [
      `${'aaaa/'.repeat(index % 5)}${'a'.repeat(20)}${index}.ts`,
      'aaaa\n'.repeat(5),
    ]),
  ),
)

/** Calls a file tool as a model would: errors are part of the result. */
function callFileTool(name: string, args: object, filesystem = manyFiles): Promise<unknown> {
  const tool = tools.get(name)
  if (!tool) throw new Error(`There is no tool '${name}'.`)
  return executeTool(tool, args, context(filesystem))
}

export const toolDoors: readonly AnyDoor[] = [
  jsonDoor('arguments of a tool', (args) => executeTool(checked, args, context())),
  jsonDoor('arguments of a tool that takes anything', (args) => executeTool(echo, args, context())),
  jsonDoor('JSON Schema', (schema) =>
    fromJsonSchema(schema as JsonSchema)['~standard'].validate({ a: 'aaaa', list: [1, 2] }),
  ),
  jsonDoor('JSON Schema and a value alike', (json) => fromJsonSchema(json as JsonSchema)['~standard'].validate(json)),
  jsonDoor('params of a tool', (params) =>
    defineTool({ name: 'a', description: 'x', params: params as JsonSchema, execute: () => ok('') }),
  ),
  jsonDoor('value of a result', (value) =>
    executeTool(defineTool({ name: 'a', description: 'x', execute: () => ok('Done.', value) }), {}, context()),
  ),
  jsonDoor('what a tool throws', (value) =>
    executeTool(
      defineTool({ name: 'a', description: 'x', execute: () => Promise.reject(value as Error) }),
      {},
      context(),
    ),
  ),
  textDoor('message of a failure', (text) =>
    executeTool(defineTool({ name: 'a', description: 'x', execute: () => fail(text) }), {}, context()),
  ),
  textDoor('glob', (pattern) => callFileTool('glob', { pattern })),
  textDoor('grep, the pattern', (pattern) => callFileTool('grep', { pattern })),
  textDoor('grep, the glob', (glob) => callFileTool('grep', { pattern: 'a', glob })),
  textDoor('grep, the files', async (text) =>
    callFileTool('grep', { pattern: '(a+)+$|\\s+x$' }, createMemoryFilesystem({ a: text, b: text })),
  ),
  textDoor('list_files', (path) => callFileTool('list_files', { path })),
  textDoor('read_file', (path) => callFileTool('read_file', { path })),
  textDoor('read_file, the file', (text) =>
    callFileTool('read_file', { path: 'a', start_line: 2 }, createMemoryFilesystem({ a: text })),
  ),
  textDoor('edit_file', (text) =>
    callFileTool(
      'edit_file',
      { path: 'a', old_text: text, new_text: 'b', replace_all: true },
      createMemoryFilesystem({ a: `${text}\r\n${text}` }),
    ),
  ),
  textDoor('write_file, the path', (path) =>
    callFileTool('write_file', { path, content: 'x' }, createMemoryFilesystem()),
  ),
  textDoor('file names', async (text) => {
    const files = createMemoryFilesystem()
    const name = text.slice(0, 500).replaceAll('\0', '').replaceAll('/', '-').replaceAll('\\', '-')
    await callFileTool('write_file', { path: name, content: text }, files)
    await callFileTool('list_files', {}, files)
    await callFileTool('glob', { pattern: '**' }, files)
    await callFileTool('grep', { pattern: 'a' }, files)
  }),
]
