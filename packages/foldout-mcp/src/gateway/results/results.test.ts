import { existsSync, readdirSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import {
  all,
  createCatalog,
  hybrid,
  type CallContext,
  type CallResult,
  type Exposure,
  type RawTool,
} from 'foldout/catalog'
import { exposeThroughStages } from '../calls/pipeline.ts'
import { createRequestScope } from '../calls/requests/request.fixtures.ts'
import { KEPT_MS, KEPT_PER_CLIENT, MAX_KEPT } from './limits.ts'
import { Results } from './results.ts'
import { ResultStore } from './store.ts'

const results = new Results()
afterAll(() => results.close())
afterEach(() => vi.useRealTimers())

const LIMIT = 500

interface Opened {
  /** Calls the tool, whose result is given. */
  call(result: CallResult, who?: string): Promise<CallResult>
  read(args: object, who?: string): Promise<CallResult>
  names(): readonly string[]
}

let views = 0

function open(exposure: Exposure = all(), tool: Partial<RawTool> = {}, limit = LIMIT): Opened {
  let answer: CallResult = { content: [] }
  const catalog = createCatalog([
    { name: 'get', description: 'Gets it.', source: 'one', call: async () => answer, ...tool },
  ])
  const view = results.createView(`preset-${++views}`, { getLimit: () => limit, getLeast: () => limit })
  const exposed = exposeThroughStages(exposure, createRequestScope(view)).expose(catalog, {
    id: 'client',
    takesListChanges: true,
  })
  const from = (id: string): CallContext => ({ client: { id, name: 'test', version: '1', principal: undefined } })
  return {
    async call(result, who = 'ada') {
      answer = result
      const isListed = exposed.list().some(({ name }) => name === 'get')
      const inner = { name: 'get', arguments: {} }
      return isListed ? exposed.call('get', {}, from(who)) : exposed.call('use_tool', inner, from(who))
    },
    read: (args, who = 'ada') => exposed.call('read_result', args, from(who)),
    names: () => exposed.list().map(({ name }) => name),
  }
}

const say = (...texts: readonly string[]): CallResult => ({ content: texts.map((text) => ({ type: 'text', text })) })
const textOf = ({ content }: CallResult): string => content.map(({ text }) => String(text)).join('\n')

function getHandle(result: CallResult): string {
  const [, handle] = /result: '(\w+)'/.exec(textOf(result)) ?? []
  if (handle === undefined) throw new Error(`It is not folded: ${textOf(result).slice(0, 200)}`)
  return handle
}

const LINES = Array.from({ length: 1_000 }, (_, i) => `line ${i + 1}`)
const PEOPLE = { people: Array.from({ length: 400 }, (_, i) => ({ id: i + 1, name: `Person ${i + 1}` })) }

describe('R57 large results', () => {
  it('are left alone up to the limit', async () => {
    const { call } = open()
    const small = { ...say('short'), structuredContent: { a: 1 } }
    expect(await call(small)).toBe(small)
  })

  it('are left alone if folding is off, and read_result is not listed', async () => {
    const { call, names } = open(all(), {}, Infinity)
    const large = say(LINES.join('\n'))
    expect(await call(large)).toBe(large)
    expect(names()).toEqual(['get'])
  })

  it('become their size, shape and beginning, and can be read', async () => {
    const { call, read, names } = open()
    expect(names()).toEqual(['read_result', 'get'])
    const folded = await call(say(JSON.stringify(PEOPLE)))
    expect(textOf(folded)).toContain('$.people: list of 400\n$.people[*]: object with 2 keys\n$.people[*].id: number')
    const result = getHandle(folded)
    expect(textOf(await read({ result, path: '$.people[?@.id == 7]' }))).toBe(
      '$.people[6]: {"id":7,"name":"Person 7"}\n(Items 1 to 1 of 1.)',
    )
    expect(textOf(await read({ result, grep: 'person 399', ignore_case: true }))).toBe(
      '$.people[398].name: "Person 399"\n(1 match in 800 values.)',
    )
  })

  it.each([
    ['^Person 7$', '$.people[6].name: "Person 7"\n(1 match in 803 values.)'],
    ['^399$', '$.people[398].id: 399\n(1 match in 803 values.)'],
    ['"id": 399$', '$.people[398].id: 399\n(1 match in 803 values.)'],
    ['said "no"\\s+and', '$.notes[0]: "he said \\"no\\"\\nand left"\n(1 match in 803 values.)'],
    ['^"plain"$', '$.notes[1]: "plain"\n(1 match in 803 values.)'],
    ['^null$', '$.notes[2]: null\n(1 match in 803 values.)'],
  ])('are searched for values, and for values as JSON: %s', async (grep, answer) => {
    const { call, read } = open()
    const notes = ['he said "no"\nand left', 'plain', null]
    const result = getHandle(await call(say(JSON.stringify({ ...PEOPLE, notes }))))
    expect(textOf(await read({ result, grep }))).toBe(answer)
  })

  it.each([
    [{ path: '$.people', from: 2, count: 1 }, '$.people[1]: {"id":2,"name":"Person 2"}'],
    [{ path: '$.people', from: -1 }, '$.people[399]: {"id":400,"name":"Person 400"}'],
    [{ path: '$.people[*].id', from: -1 }, '$.people[399].id: 400'],
    [{ path: '$.people[1:3].id', from: 2 }, '$.people[2].id: 3'],
    [{ path: '$.people[4]', from: 1, count: 1 }, '$.people[4]: {"id":5,"name":"Person 5"}'],
    [{ path: '$.tags' }, '$.tags: ["a","b"]'],
  ])('are read by item, also those of one list that a path selects: %j', async (args, line) => {
    const { call, read } = open()
    const result = getHandle(await call(say(JSON.stringify({ ...PEOPLE, tags: ['a', 'b'] }))))
    expect(textOf(await read({ result, ...args })).split('\n')[0]).toBe(line)
  })

  it('say how many there are, in the singular too', async () => {
    const { call, read } = open()
    const result = getHandle(await call(say(`{"only": ${JSON.stringify(LINES)}}`)))
    expect(textOf(await read({ result, from: 2 }))).toBe('(There is only 1 item.)')
    expect(textOf(await read({ result, path: '$.only', from: 2_000 }))).toBe('(There are only 1,000 items.)')
  })

  it('keep everything: reading on gives the whole text', async () => {
    const { call, read } = open()
    const text = `${LINES.join('\n')}\nWäre “es” 🙂 so?\n`
    const result = getHandle(await call(say(text)))
    for (const unit of ['lines', 'characters']) {
      let whole = ''
      let from: number | undefined = 1
      while (from !== undefined) {
        const answer = textOf(await read({ result, unit, from, max_tokens: 400 }))
        const [note = ''] = /\n\((?:Lines|Characters) .*\)$/.exec(answer) ?? []
        whole += `${answer.slice(0, -note.length)}${unit === 'lines' ? '\n' : ''}`
        const [, next] = /from: (\d+)/.exec(note) ?? []
        from = next === undefined ? undefined : Number(next)
      }
      expect(whole).toBe(text)
    }
  })

  it('are never read up to half of a character', async () => {
    const { call, read } = open()
    const result = getHandle(await call(say('😀'.repeat(2_000))))
    const range = { result, unit: 'characters' }
    expect(textOf(await read({ ...range, from: 1, count: 3 }))).toBe(
      '😀😀\n(Characters 1 to 4 of 4,000. Continue with from: 5.)',
    )
    expect(textOf(await read({ ...range, from: -1 }))).toBe('😀\n(Characters 3,999 to 4,000 of 4,000.)')
    for (let tokens = 1; tokens < 20; tokens++)
      expect(textOf(await read({ result, max_tokens: tokens }))).not.toMatch(/\p{Surrogate}/u)
  })

  it('are selected by numbers below one', async () => {
    const { call, read } = open()
    const items = Array.from({ length: 400 }, (_, i) => ({ name: `0.5 of ${i}`, price: i / 10 }))
    const result = getHandle(await call(say(JSON.stringify({ items }))))
    expect(textOf(await read({ result, path: '$.items[?@.price < 0.2 && @.price > 0.0].name' }))).toBe(
      '$.items[1].name: "0.5 of 1"\n(Items 1 to 1 of 1.)',
    )
    expect(textOf(await read({ result, path: "$.items[?@.name == '0.5 of 7' || @.price == 0e0].price" }))).toBe(
      '$.items[0].price: 0\n$.items[7].price: 0.7\n(Items 1 to 2 of 2.)',
    )
  })

  it('stay under the ceiling of tokens when they are read', async () => {
    const { call, read } = open()
    const result = getHandle(await call(say(LINES.join('\n'))))
    const few = textOf(await read({ result, max_tokens: 50 }))
    expect(few.length).toBeLessThan(300)
    const most = textOf(await read({ result, max_tokens: 1_000_000 }))
    expect(most.length).toBeLessThan(LIMIT * 6)
  })

  it('leave pictures, sounds, links and annotations as they are', async () => {
    const { call } = open()
    const picture = { type: 'image', data: 'A'.repeat(50_000), mimeType: 'image/png' }
    const sound = { type: 'audio', data: 'B'.repeat(50_000), mimeType: 'audio/wav' }
    const link = { type: 'resource_link', uri: 'file:///a', name: 'a' }
    const annotations = { audience: ['user'] }
    const { content, ...rest } = await call({
      content: [
        picture,
        { type: 'text', text: LINES.join('\n'), annotations },
        sound,
        { type: 'text', text: 'end' },
        link,
      ],
      _meta: { trace: 1 },
      isError: true,
    })
    expect(content.map(({ type }) => type)).toEqual(['image', 'text', 'audio', 'resource_link'])
    expect(content).toEqual([picture, expect.objectContaining({ annotations }), sound, link])
    expect(rest).toMatchObject({ isError: true, _meta: { trace: 1 } })
  })

  it('fold a resource by itself, under its name', async () => {
    const { call, read } = open()
    const resource = { uri: 'file:///log.txt', mimeType: 'text/plain', text: LINES.join('\n') }
    const folded = await call({
      content: [
        { type: 'text', text: 'Here.' },
        { type: 'resource', resource },
      ],
    })
    expect(textOf(folded)).toMatch(
      /^Here\.\nResource file:\/\/\/log\.txt\nThis result is folded: text with 1,000 lines/,
    )
    expect(textOf(await read({ result: getHandle(folded), from: -1 }))).toContain('line 1000')
  })

  it('have structured content folded once, even if it is there as a text too', async () => {
    const { call, read } = open()
    const folded = await call({ ...say(JSON.stringify(PEOPLE, undefined, 2)), structuredContent: PEOPLE })
    expect(folded.content).toHaveLength(1)
    expect(folded.structuredContent).toBeUndefined()
    expect(textOf(await read({ result: getHandle(folded), path: '$.people[1].name' }))).toContain('"Person 2"')
    const both = await call({ ...say('400 people.'), structuredContent: PEOPLE })
    expect(textOf(both)).toMatch(/^400 people\.\nThis result is folded: JSON/)
  })

  it('stay whole if the client checks them, unless they are too large to send', async () => {
    const tool = { outputSchema: { type: 'object', properties: { people: { type: 'array' } }, required: ['people'] } }
    const result = { ...say(JSON.stringify(PEOPLE)), structuredContent: PEOPLE }
    expect(await open(all(), tool).call(result)).toBe(result)
    expect(getHandle(await open(hybrid(), tool).call(result))).toBeDefined()
    const people = ['x'.repeat(10_000_000)]
    const huge = await open(all(), tool).call({ content: [], structuredContent: { people } })
    expect(huge).toMatchObject({ isError: true })
    expect(huge.structuredContent).toBeUndefined()
    expect(getHandle(huge)).toBeDefined()
  })

  it('do not affect questions to the client', async () => {
    const { call } = open()
    const question = { content: [], resultType: 'input_required', inputRequests: { a: { text: LINES.join('\n') } } }
    expect(await call(question)).toBe(question)
  })
})

describe('R57 attacks on folded results', () => {
  it('a JSON of 50 MB on one line is folded and read without stopping the process', { timeout: 60_000 }, async () => {
    const { call, read } = open()
    const items = Array.from({ length: 50_000 }, (_, i) => `{"id":${i},"text":"${'x'.repeat(1_000)}"}`)
    const text = `[${items.join(',')}]`
    expect(text.length).toBeGreaterThan(50_000_000)
    let ticks = 0
    const timer = setInterval(() => ticks++, 5)
    const folded = await call(say(text))
    expect(textOf(folded)).toContain('$: list of 50,000')
    const result = getHandle(folded)
    const found = await read({ result, path: '$[49999].id' })
    clearInterval(timer)
    expect(textOf(found)).toBe('$[49999].id: 49999\n(Items 1 to 1 of 1.)')
    expect(ticks).toBeGreaterThan(10)
    expect(textOf(await read({ result, unit: 'characters', from: -20 }))).toContain('x"}]')
  })

  it('a JSON that is nested 100,000 deep', async () => {
    const { call, read } = open()
    const text = `${'{"a":['.repeat(100_000)}"deep"${']}'.repeat(100_000)}`
    const folded = await call(say(text))
    expect(textOf(folded)).toContain('$.a[*].a[*]')
    const result = getHandle(folded)
    expect((await read({ result, path: '$..a' })).isError).toBe(true)
    expect(textOf(await read({ result, grep: 'deep' }))).toContain('"deep"')
    expect(textOf(await read({ result, path: '$.a[0].a[0]' }))).toContain('$.a[0].a[0]: {"a":[')
  })

  it('keys named like parts of objects', async () => {
    const { call, read } = open()
    const text = `{"__proto__":{"constructor":"own"},"rows":${JSON.stringify(LINES)}}`
    const folded = await call(say(text))
    expect(textOf(folded)).toContain('$.__proto__.constructor: string')
    const result = getHandle(folded)
    expect(textOf(await read({ result, path: '$.__proto__.constructor' }))).toContain('"own"')
    expect(textOf(await read({ result, path: '$.rows.constructor' }))).toBe('(There is nothing here.)')
    expect(textOf(await read({ result, path: '$.toString' }))).toBe('(There is nothing here.)')
  })

  it('patterns and paths that take for ever', { timeout: 60_000 }, async () => {
    const { call, read } = open()
    const value = {
      s: `${'a'.repeat(5_000)}b`,
      rows: LINES,
      deep: JSON.parse('['.repeat(150) + ']'.repeat(150)) as unknown,
    }
    const result = getHandle(await call(say(JSON.stringify(value))))
    expect(textOf(await read({ result, grep: '(a+)+$' }))).toContain('match')
    expect(textOf(await read({ result, path: '$[?search(@, "(a+)+$")]' }))).toBe('(There is nothing here.)')
    expect(textOf(await read({ result, path: '$[?match(@, "a*(a*)*c")]' }))).toBe('(There is nothing here.)')
    expect((await read({ result, path: '$..*..*..*..*', max_tokens: 100 })).content).toHaveLength(1)
    // A filter that compares everything with everything is stopped.
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    const endless = read({ result, path: `$${'[?@..*..*'.repeat(3)}..nothing${']'.repeat(3)}` })
    await vi.advanceTimersByTimeAsync(20_000)
    expect(textOf(await endless)).toMatch(/longer than 15 seconds|nothing here/)
    vi.useRealTimers()
    expect(textOf(await read({ result, path: '$.rows[0]' }))).toContain('"line 1"')
  })

  it.each([
    { result: 7 },
    { result: '__proto__' },
    [],
    'text',
    null,
    { result: 'x', count: -1 },
    { result: 'x', from: 1e300 },
  ])('the arguments %j', async (args) => {
    expect((await open().read(args as object)).isError).toBe(true)
  })

  it('the name of a result of another client, or of another view', async () => {
    const { call, read } = open()
    const result = getHandle(await call(say(LINES.join('\n')), 'ada'))
    expect((await read({ result }, 'eve')).isError).toBe(true)
    expect((await open().read({ result }, 'ada')).isError).toBe(true)
    expect((await read({ result }, 'ada')).isError).toBeUndefined()
  })

  it('many readings at once', async () => {
    const { call, read } = open()
    const handles = await Promise.all(
      Array.from({ length: 20 }, async (_, i) =>
        getHandle(await call(say(`${LINES.join(`-${i}\n`)}-${i}`), `client-${i}`)),
      ),
    )
    const answers = await Promise.all(
      handles.map((result, i) => read({ result, from: i + 1, count: 1 }, `client-${i}`)),
    )
    expect(answers.map(textOf)).toEqual(handles.map((_, i) => expect.stringContaining(`line ${i + 1}-${i}\n`)))
  })

  it('a call that is canceled while it reads', async () => {
    const { call, read } = open()
    const result = getHandle(await call(say(LINES.join('\n'))))
    const view = results.createView('', { getLimit: () => LIMIT, getLeast: () => LIMIT })
    const exposed = exposeThroughStages(all(), createRequestScope(view)).expose(createCatalog([]), {
      id: 'c',
      takesListChanges: true,
    })
    await exposed.call('read_result', { result }, { signal: AbortSignal.abort() }).catch(() => undefined)
    expect((await read({ result, count: 1 })).isError).toBeUndefined()
  })
})

describe('R57 kept results', () => {
  const ada = { key: 'ada', isShared: false, user: 'ada' }
  const everyone = { key: 'shared', isShared: true, user: 'shared' }

  it('expire, later if they are read', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const store = new ResultStore()
    const { handle } = await store.keep(ada, 'text')
    vi.setSystemTime(Date.now() + KEPT_MS - 1)
    expect(store.find(ada, handle)).toBeDefined()
    vi.setSystemTime(Date.now() + KEPT_MS - 1)
    expect(store.find(ada, handle)).toBeDefined()
    vi.setSystemTime(Date.now() + KEPT_MS)
    expect(store.find(ada, handle)).toBeUndefined()
    await store.close()
  })

  it('of one client replace each other, not those of other clients', async () => {
    const store = new ResultStore()
    const other = await store.keep({ key: 'eve', isShared: false, user: 'eve' }, 'text')
    const kept = []
    for (let i = 0; i <= KEPT_PER_CLIENT; i++) kept.push(await store.keep(ada, `text ${i}`))
    expect(kept.filter(({ handle }) => store.find(ada, handle)).length).toBe(KEPT_PER_CLIENT)
    expect(store.find(ada, kept[0]?.handle ?? '')).toBeUndefined()
    expect(store.find({ key: 'eve', isShared: false, user: 'eve' }, other.handle)).toBeDefined()
    await store.close()
  })

  it('of a user with many clients replace each other, not those of other users', async () => {
    const store = new ResultStore()
    const eve = { key: 'eve', isShared: false, user: 'eve' }
    const other = await store.keep(eve, 'text')
    for (let i = 0; i < MAX_KEPT + 100; i++)
      await store.keep({ key: `ada ${Math.floor(i / KEPT_PER_CLIENT)}`, isShared: false, user: 'ada' }, `text ${i}`)
    expect(store.find(eve, other.handle)).toBeDefined()
    await store.close()
  })

  it('are a thousand at most', async () => {
    const store = new ResultStore()
    const kept = await Promise.all(Array.from({ length: MAX_KEPT + 10 }, (_, i) => store.keep(everyone, `text ${i}`)))
    expect(kept.filter(({ handle }) => store.find(everyone, handle)).length).toBe(MAX_KEPT)
    await store.close()
  })

  it('are in private files if they are large, which are removed later', async () => {
    const store = new ResultStore()
    const large = 'x'.repeat(100_000)
    const { source, handle } = await store.keep(ada, large)
    const file = 'file' in source ? source.file : ''
    expect(statSync(file)).toMatchObject({ size: large.length })
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(join(file, '..')).mode & 0o777).toBe(0o700)
    store.dropAll(ada)
    expect(store.find(ada, handle)).toBeUndefined()
    await vi.waitFor(() => expect(existsSync(file)).toBe(false))
    await store.keep(ada, large)
    await store.close()
    expect(readdirSync(tmpdir()).filter((name) => join(tmpdir(), name) === join(file, '..'))).toEqual([])
    await expect(store.keep(ada, large)).rejects.toThrow('closing')
  })
})
