import { describe, expect, it } from 'vitest'
import type { ServerDefinition } from '../gateway/config/definition.ts'
import { listQuestions, readServerJson } from './server-json.ts'

type Answers = Readonly<Record<string, string | readonly string[]>>

function build(server: object, answers: Answers = {}, isRemote = false): ServerDefinition {
  const recipe = readServerJson({ name: 'io.github.ada/x', ...server }, 'server.json', isRemote)
  return recipe(({ id, fallback }) => [answers[id] ?? fallback ?? []].flat())
}

describe('R52: a server.json from the registry', () => {
  it('starts npm packages with what they need', () => {
    const server = {
      packages: [
        {
          registryType: 'npm',
          identifier: '@ada/x',
          version: '1.0.2',
          transport: { type: 'stdio' },
          runtimeArguments: [{ type: 'positional', value: '-y' }],
          packageArguments: [
            { type: 'positional', valueHint: 'folder', isRequired: true },
            { type: 'named', name: '--port', default: '80' },
            { type: 'named', name: '--verbose', format: 'boolean', default: 'true' },
            { type: 'named', name: '--log', description: 'where to' },
            { type: 'named', name: '--db', value: 'pg://{user}@db', variables: { user: { isRequired: true } } },
          ],
          environmentVariables: [
            { name: 'TOKEN', description: 'Your token', isRequired: true, isSecret: true },
            { name: 'LEVEL', choices: ['low', 'high'], default: 'low' },
            { name: 'PROXY' },
          ],
        },
      ],
    }
    expect(build(server, { folder: '/data', user: 'ada', TOKEN: 't' })).toEqual({
      command: 'npx',
      args: ['-y', '@ada/x@1.0.2', '/data', '--port', '80', '--verbose', '--db', 'pg://ada@db'],
      env: { TOKEN: 't', LEVEL: 'low' },
    })
    const questions = listQuestions(readServerJson({ name: 'x', ...server }, 'server.json'))
    expect(
      questions.filter(({ isRequired }) => isRequired).map(({ id, kind, isSecret }) => [id, kind, isSecret]),
    ).toEqual([
      ['TOKEN', 'env', true],
      ['folder', 'argument', false],
      ['user', 'variable', false],
    ])
  })

  it.each([
    [
      { registryType: 'pypi', identifier: 'x', version: '2.0' },
      { command: 'uvx', args: ['x@2.0'] },
    ],
    [
      { registryType: 'nuget', identifier: 'X.Y', version: '1' },
      { command: 'dnx', args: ['--yes', 'X.Y@1'] },
    ],
    [
      { registryType: 'oci', identifier: 'ada/x', version: '3' },
      { command: 'docker', args: ['run', '-i', '--rm', 'ada/x:3'] },
    ],
    [
      { registryType: 'oci', identifier: 'ghcr.io:443/ada/x:3' },
      { command: 'docker', args: ['run', '-i', '--rm', 'ghcr.io:443/ada/x:3'] },
    ],
    [
      { registryType: 'npm', identifier: 'x', runtimeHint: 'bunx' },
      { command: 'bunx', args: ['-y', 'x'] },
    ],
    // The format of 2025.
    [
      {
        registry_type: 'npm',
        identifier: 'x',
        environment_variables: [{ name: 'a_b', is_required: true, default: '1' }],
      },
      { command: 'npx', args: ['-y', 'x'], env: { a_b: '1' } },
    ],
  ])('starts %j', (one, definition) => {
    expect(build({ packages: [one] })).toEqual(definition)
  })

  it('repeats an argument for each of its values, if it may be repeated', () => {
    const packageArguments = [
      { type: 'named', name: '--allow', isRepeated: true },
      { type: 'named', name: '--mode' },
      { type: 'positional', valueHint: 'folder', isRepeated: true, isRequired: true },
    ]
    const packages = [{ registryType: 'npm', identifier: 'x', packageArguments }]
    expect(build({ packages }, { allow: ['a', 'b'], mode: ['old', 'new'], folder: ['/a', '/b'] }).args).toEqual([
      '-y',
      'x',
      '--allow',
      'a',
      '--allow',
      'b',
      '--mode',
      'new',
      '/a',
      '/b',
    ])
  })

  it('has one answer for each argument, also for those without a name', () => {
    const positional = { type: 'positional', isRequired: true }
    const packageArguments = [positional, { type: 'positional', value: 'fixed' }, positional]
    const packages = [{ registryType: 'npm', identifier: 'x', packageArguments }]
    const recipe = readServerJson({ name: 'x', packages }, 'server.json')
    expect(listQuestions(recipe).map(({ id }) => id)).toEqual(['argument-1', 'argument-2'])
    expect(build({ packages }, { 'argument-1': 'from', 'argument-2': 'to' }).args).toEqual([
      '-y',
      'x',
      'from',
      'fixed',
      'to',
    ])
    const single = [{ registryType: 'npm', identifier: 'x', packageArguments: [positional] }]
    expect(build({ packages: single }, { argument: 'only' }).args).toEqual(['-y', 'x', 'only'])
  })

  it('passes variables into a container', () => {
    const one = { registryType: 'oci', identifier: 'x', environmentVariables: [{ name: 'TOKEN', isRequired: true }] }
    expect(build({ packages: [one] }, { TOKEN: 't' })).toEqual({
      command: 'docker',
      args: ['run', '-i', '--rm', '-e', 'TOKEN', 'x'],
      env: { TOKEN: 't' },
    })
  })

  it('connects to remotes if there is no package, or on request', () => {
    const remotes = [
      { type: 'sse', url: 'https://x/sse' },
      {
        type: 'streamable-http',
        url: 'https://{tenant}.x/mcp',
        variables: { tenant: { default: 'a' } },
        headers: [{ name: 'X-Key', value: 'Key {key}', variables: { key: { isSecret: true } } }],
      },
    ]
    const expected = { url: 'https://b.x/mcp', headers: { 'X-Key': 'Key k' } }
    expect(build({ remotes }, { tenant: 'b', key: 'k' })).toEqual(expected)
    expect(
      build({ packages: [{ registryType: 'npm', identifier: 'x' }], remotes }, { tenant: 'b', key: 'k' }, true),
    ).toEqual(expected)
    expect(build({ remotes: remotes.slice(0, 1) })).toEqual({ type: 'sse', url: 'https://x/sse' })
  })

  it("may be wrapped, as in the registry's API", () => {
    const server = { name: 'x', packages: [{ registryType: 'npm', identifier: 'x' }] }
    expect(readServerJson({ server, _meta: {} }, 'f')(() => [])).toEqual({ command: 'npx', args: ['-y', 'x'] })
  })

  it.each([
    [null, /^f is not a server\.json: /],
    [{ packages: [] }, /"name" must be a string/],
    [{ name: 'x' }, /has nothing that can be started: it has no packages\. It needs a package of one of npm, /],
    [
      { name: 'x', packages: [{ registryType: 'mcpb', identifier: 'x' }] },
      /its packages are mcpb\. It needs a package of one of npm, pypi, oci, nuget/,
    ],
    [
      { name: 'x', packages: [{ registryType: 'npm', identifier: 'x', transport: { type: 'streamable-http' } }] },
      /its packages serve HTTP instead of stdio\. Start the server yourself, then add its address with --url\./,
    ],
    [{ name: 'x', packages: 7 }, /"packages" must be a list/],
  ])('refuses %j', (value, message) => {
    expect(() => readServerJson(value, 'f')).toThrow(message)
  })
})
