import { describe, expect, it } from 'vitest'
import type { GatewayServer } from '../../servers/server.ts'
import type { Listed, Snapshot } from '../../model/snapshot.ts'
import { createDirectory, type Directory } from './directory.ts'
import { createFeatures, type ViewFeatures } from './features.ts'

interface Lists {
  readonly resources?: readonly string[]
  readonly templates?: readonly string[]
  readonly prompts?: readonly string[]
  readonly pages?: readonly string[]
}

function createServer(name: string, { resources, templates, prompts, pages = [] }: Lists): GatewayServer {
  const toItems = (field: string, names: readonly string[] = []): readonly Listed[] =>
    names.map((one) => ({ [field]: one }))
  const snapshot: Partial<Snapshot> = {
    capabilities: resources || templates ? { resources: {} } : {},
    resources: toItems('uri', resources),
    templates: toItems('uriTemplate', templates),
    prompts: toItems('name', prompts),
    tools: pages.map((resourceUri) => ({ name: resourceUri, meta: { ui: { resourceUri } } })),
  }
  return { name, snapshot } as GatewayServer
}

const listUris = ({ resources, templates }: Directory): readonly unknown[] => [
  ...resources.map(({ uri }) => uri),
  ...templates.map(({ uriTemplate }) => uriTemplate),
]

/** Where a URI leads. */
const locate = (directory: Directory, uri: string): string | undefined => {
  const found = directory.findResource(uri)
  return found && `${found.server.name}: ${found.own}`
}

describe('the URIs of several servers', () => {
  it('stay as they are if no other server has them', () => {
    const one = createServer('one', { resources: ['a://1'], templates: ['a://row/{id}'] })
    const two = createServer('two', { resources: ['b://1'], templates: ['b://row/{id}'] })
    const directory = createDirectory([one, two])
    expect(listUris(directory)).toEqual(['a://1', 'b://1', 'a://row/{id}', 'b://row/{id}'])
    expect([directory.toSeen(two, 'b://1'), directory.toSeen(two, 'b://row/7')]).toEqual(['b://1', 'b://row/7'])
  })

  it('get the name of the second server if both have them, and lead back to it', () => {
    const lists = { resources: ['mem://note'], templates: ['mem://row/{id}{?page}'], pages: ['ui://page'] }
    const one = createServer('one', lists)
    const two = createServer('my two', lists)
    const directory = createDirectory([one, two])
    expect(listUris(directory)).toEqual([
      'mem://note',
      'foldout://my%20two/mem://note',
      'mem://row/{id}{?page}',
      'foldout://my%20two/mem://row/{id}{?page}',
    ])
    for (const [uri, seen] of [
      ['mem://note', 'foldout://my%20two/mem://note'],
      ['mem://row/7', 'foldout://my%20two/mem://row/7'],
      ['mem://row/a%2Fb?page=1:2', 'foldout://my%20two/mem://row/a%2Fb?page=1:2'],
      ['ui://page', 'ui://foldout/my%20two/ui://page'],
    ] as const) {
      expect([directory.toSeen(one, uri), directory.toSeen(two, uri)]).toEqual([uri, seen])
      expect([locate(directory, uri), locate(directory, seen)]).toEqual([`one: ${uri}`, `my two: ${uri}`])
    }
    const template = directory.findResource('foldout://my%20two/mem://row/{id}{?page}')
    expect(template?.own).toBe('mem://row/{id}{?page}')
  })

  it.each([
    ['a resource', { resources: ['mem://row/7'] }, 'foldout://two/mem://row/7'],
    ['a template', { templates: ['mem://row/{id}/x'] }, 'foldout://two/mem://row/{id}/x'],
    ['a template for everything', { templates: ['{+uri}'] }, 'foldout://two/{+uri}'],
  ])('of which %s may be meant by a template of an earlier server get the name of theirs', (_what, lists, seen) => {
    const one = createServer('one', { resources: ['mem://note'], templates: ['mem://row/{id}'] })
    expect(listUris(createDirectory([one, createServer('two', lists)]))).toContain(seen)
  })

  it('get the name of their server if their template matches a resource of an earlier one', () => {
    const one = createServer('one', { resources: ['mem://row/1'] })
    const two = createServer('two', { templates: ['mem://row/{id}'] })
    const directory = createDirectory([one, two])
    expect(directory.templates).toEqual([{ uriTemplate: 'foldout://two/mem://row/{id}' }])
    expect(locate(directory, 'mem://row/1')).toBe('one: mem://row/1')
  })

  it('cannot take the place of another server', () => {
    const one = createServer('one', { resources: ['foldout://two/mem://note', 'foldout://runs'] })
    const two = createServer('two', { resources: ['mem://note'] })
    const directory = createDirectory([one, two])
    expect(listUris(directory)).toEqual(['foldout://one/foldout://two/mem://note', 'foldout://runs', 'mem://note'])
    expect(locate(directory, 'foldout://two/mem://note')).toBe('two: mem://note')
    expect(locate(directory, 'foldout://one/foldout://two/mem://note')).toBe('one: foldout://two/mem://note')
  })

  it('are understood if a client has escaped them', () => {
    const directory = createDirectory([createServer('one', {}), createServer('two', { resources: ['mem://note'] })])
    for (const uri of ['foldout://two/mem%3A%2F%2Fnote', 'foldout://two/mem%3A//note'])
      expect(locate(directory, uri)).toBe('two: mem://note')
    expect(locate(directory, 'foldout://two/%')).toBeUndefined()
    expect(locate(directory, 'foldout://none/mem://note')).toBeUndefined()
  })

  it('are merged quickly, whatever their templates look like', () => {
    const names = Array.from({ length: 10_000 }, (_, i) => `a${i}`)
    const one = createServer('one', { templates: names.map((name) => `{x}${name}`) })
    const two = createServer('two', { resources: names, templates: names.map((name) => `{y}${name}`) })
    const directory = createDirectory([one, two])
    expect(directory.resources[0]).toEqual({ uri: 'foldout://two/a0' })
    expect(directory.templates).toHaveLength(20_000)
  })
})

describe('prompts of the same name', () => {
  it('get a name that no other prompt has', () => {
    const one = createServer('one', { prompts: ['p', 'two_p'] })
    const two = createServer('two', { prompts: ['p', 'p', 'two_p', 'two_p_2', 'other'] })
    const { prompts, findPrompt } = createDirectory([one, two])
    const names = prompts.map(({ name }) => String(name))
    expect(names).toEqual(['p', 'two_p', 'two_p_3', 'two_two_p', 'two_p_2', 'other'])
    expect(names.map((name) => findPrompt(name)).map((found) => found && `${found.server.name} ${found.own}`)).toEqual([
      'one p',
      'one two_p',
      'two p',
      'two two_p',
      'two two_p_2',
      'two other',
    ])
  })
})

describe('a resource that is in no list', () => {
  const start = (...servers: readonly GatewayServer[]): ViewFeatures =>
    createFeatures(() => servers, {
      toScoped: (client) => client,
      fold: async (result) => result,
      explainTask: async () => '',
      onGone: () => undefined,
      getSkills: () => undefined,
    })

  it('belongs to the server whose result named it first', () => {
    const one = createServer('one', { resources: [] })
    const two = createServer('two', { resources: [] })
    const features = start(one, two)
    expect(features.name(two, 'x://1')).toBe('x://1')
    expect(features.name(one, 'x://1')).toBe('foldout://one/x://1')
    expect(features.name(two, 'x://1')).toBe('x://1')
  })

  it('stays with that server if another one lists it later, or a template for it', () => {
    const two = createServer('two', { resources: [] })
    const named = new Map([['x://1', 'two']])
    const one = createServer('one', { resources: ['x://1', 'x://2'], templates: ['{+uri}'] })
    const directory = createDirectory([one, two], { named })
    expect(directory.resources).toEqual([{ uri: 'foldout://one/x://1' }, { uri: 'x://2' }])
    expect(locate(directory, 'x://1')).toBe('two: x://1')
    expect(locate(directory, 'x://3')).toBe('one: x://3')
  })

  it('keeps its URI if its server has no resources', () => {
    const one = createServer('one', { resources: ['https://example.com/'] })
    expect(start(one, createServer('two', {})).name(createServer('two', {}), 'https://example.com/')).toBe(
      'https://example.com/',
    )
  })
})
