import { countTokens } from 'gpt-tokenizer'
import { afterEach, describe, expect, it } from 'vitest'
import { createCatalog } from '../../../catalog/live/catalog.ts'
import { all } from '../../../catalog/exposures/all.ts'
import { hybrid } from '../../../catalog/exposures/hybrid.ts'
import { metaTool } from '../../../catalog/exposures/meta-tool.ts'
import { definePrompt } from '../../../prompt/prompt.ts'
import { defineSection } from '../../../prompt/definition/section.ts'
import { createSession } from '../../../session/session.ts'
import { visibility } from '../../../session/visibility.ts'
import { ok } from '../../../tools/result.ts'
import { defineTool } from '../../../tools/tool.ts'
import { manyKinds } from '../catalog.fixtures.ts'
import {
  allKinds,
  inMemory,
  legacyKinds,
  overHttp,
  getText,
  type ClientKind,
  type TestClient,
} from '../clients.fixtures.ts'
import { serveMcp, type ServedMcp } from '../serve-mcp.ts'
import type { ServeMcpOptions } from '../contract/options.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close()
})

const tool = (name: string, description: string, params: Record<string, object> = {}) =>
  defineTool({
    name,
    description,
    params: { type: 'object', properties: params, required: Object.keys(params) },
    execute: (args, { prompt }) => ok(`${name} ${JSON.stringify(args)} ${prompt?.summarized.join(',')}`),
  })

const handbook = definePrompt({
  ns: 'shop',
  key: 'handbook',
  name: 'The handbook',
  sections: [
    defineSection({
      key: 'rules',
      title: 'Rules',
      template: 'Be kind to ${who}.',
      tools: [tool('greet', 'Greets the customer.')],
    }),
    defineSection({
      key: 'refunds',
      title: 'Refunds',
      visibility: 'summary',
      summary: 'How to give money back.',
      template: 'Give back what was paid.',
      tools: [tool('refund', 'Refunds an order.', { order: { type: 'string' } })],
      children: [
        defineSection({
          key: 'disputes',
          title: 'Disputes',
          visibility: 'summary',
          summary: 'When the bank asks.',
          template: 'Answer the bank.',
          tools: [tool('answer_bank', 'Answers the bank.')],
        }),
      ],
    }),
    defineSection({ key: 'secret', title: 'Secret', template: 'Nobody reads this.', enabled: false }),
  ],
}).bind({ who: 'guests' })

const CONTENTS = `## 1 Rules

Be kind to guests.

## 2 Refunds

How to give money back.

---
[This section is summarized. To view full content, call \`read_section\` with key "refunds".]`

const REFUNDS = `# Refunds

Give back what was paid.

## Disputes

When the bank asks.

---
[This section is summarized. To view full content, call \`read_section\` with key "refunds.disputes".]`

function serve(options: Partial<ServeMcpOptions> = {}): ServedMcp {
  const served = serveMcp(manyKinds(), {
    name: 'shop',
    version: '1.0.0',
    expose: hybrid(),
    prompt: handbook,
    ...options,
  })
  open.push(served)
  return served
}

async function connect(served: ServedMcp, kind: ClientKind): Promise<TestClient> {
  const client = await inMemory(served, kind)
  open.push(client)
  return client
}

const getNames = async (client: TestClient): Promise<string[]> => (await client.list()).tools.map(({ name }) => name)
const LISTED = ['get_states', 'search_tools', 'use_tool', 'read_section', 'greet']

describe.each(allKinds)('sections, for a %s', (kind) => {
  it('R50 lists the tools of open sections along with those of the catalog, and can run them', async () => {
    const client = await connect(serve(), kind)
    expect(await getNames(client)).toEqual(LISTED)
    expect(getText(await client.call('greet'))).toBe('greet {} refunds')
    expect(getText(await client.call('use_tool', { name: 'greet' }))).toBe('greet {} refunds')
    expect(getText(await client.call('use_tool', { name: 'get_states' }))).toBe('All is off.')
  })

  it('R50 returns the table of contents, whatever is open', async () => {
    const client = await connect(serve(), kind)
    expect(getText(await client.call('read_section'))).toBe(CONTENTS)
    await client.call('read_section', { section_key: 'refunds' })
    expect(getText(await client.call('read_section', {}))).toBe(CONTENTS)
  })

  it('R50 returns a section with its tools, and keeps folded children folded', async () => {
    const client = await connect(serve(), kind)
    const how =
      kind === 'v2 client, modern'
        ? 'Its tools, to be run with use_tool {"name":"…","arguments":{…}}:'
        : 'Its tools are in the tool list now. If you do not see them there, run them with use_tool {"name":"…","arguments":{…}}:'
    const text = `${REFUNDS}\n\n${how}\nrefund(order: string) — Refunds an order`
    expect(getText(await client.call('read_section', { section_key: 'refunds' }))).toBe(text)
    expect(getText(await client.call('read_section', { section_key: 'refunds' }))).toBe(text)
    expect(getText(await client.call('refund', { order: 'A1' }))).toContain('refund {"order":"A1"}')
    expect(getText(await client.call('use_tool', { name: 'refund', arguments: { order: 'A1' } }))).toContain('refund {')
    const wrong = await client.call('refund', {})
    expect(wrong.isError).toBe(true)
    expect(getText(wrong)).toMatch(/^Wrong arguments for tool 'refund': /)
  })

  it('R50 opens the parents of a section too', async () => {
    const client = await connect(serve(), kind)
    const text = getText(await client.call('read_section', { section_key: 'refunds.disputes' }))
    expect(text).toMatch(/^# Refunds\n\nGive back what was paid\.\n\n## Disputes\n\nAnswer the bank\.\n\nIts tools/)
    expect(text).toMatch(/\nrefund\(order: string\) — .*\nanswer_bank\(\) — .*$/)
    expect((await client.call('answer_bank')).isError).toBeUndefined()
  })

  it('R50 returns an open section without tools unchanged', async () => {
    const client = await connect(serve({ prompt: plain }), kind)
    expect(getText(await client.call('read_section', { section_key: 'only' }))).toBe('# Only\n\nAll of it.')
    expect(getText(await client.call('read_section'))).toBe('## 1 Only\n\nAll of it.')
    expect(await getNames(client)).toEqual(['get_states', 'search_tools', 'use_tool', 'read_section'])
  })

  it('R50 explains what is wrong with a key', async () => {
    const client = await connect(serve(), kind)
    const unknown = await client.call('read_section', { section_key: 'refund' })
    expect(unknown.isError).toBe(true)
    expect(getText(unknown)).toMatch(/^Section 'refund' does not exist in this prompt\. Nearest keys: refunds, /)
    expect((await client.call('read_section', { section_key: 'secret' })).isError).toBe(true)
    expect(getText(await client.call('read_section', { section_key: 7 }))).toBe(
      "'section_key' must be a string, such as 'parent.child'.",
    )
  })

  it('R50 names the right argument if a client uses a wrong one', async () => {
    const client = await connect(serve(), kind)
    const wrong = await client.call('read_section', { key: 'refunds' })
    expect(wrong.isError).toBe(true)
    expect(getText(wrong)).toBe(
      "Wrong arguments for tool 'read_section': there is no argument 'key'; there is: section_key.",
    )
  })

  it('R50 R37 answers with the error that a section has thrown', async () => {
    const render = (): never => {
      throw new Error('The database is down.')
    }
    const section = defineSection({
      key: 'stock',
      title: 'Stock',
      summary: 'What is there.',
      visibility: 'summary',
      render,
    })
    const broken = definePrompt({ ns: 'shop', key: 'broken', sections: [section] }).bind()
    const client = await connect(serve({ prompt: broken }), kind)
    const answer = await client.call('read_section', { section_key: 'stock' })
    expect(answer.isError).toBe(true)
    expect(getText(answer)).toBe(
      "Tool 'read_section' failed: Section 'stock': its `render` threw: The database is down.",
    )
  })

  it('R50 offers use_tool even if the catalog alone would not need it', async () => {
    const client = await connect(serve({ expose: all() }), kind)
    const { tools } = await client.list()
    expect(tools.slice(-3).map(({ name }) => name)).toEqual(['read_section', 'use_tool', 'greet'])
    await client.call('read_section', { section_key: 'refunds' })
    expect(getText(await client.call('use_tool', { name: 'refund', arguments: '{"order":"A1"}' }))).toContain(
      'refund {',
    )
    expect(getText(await client.call('use_tool', { name: 'get_states' }))).toBe('All is off.')
    expect(getText(await client.call('use_tool', { name: 'refnd' }))).toMatch(/^Tool 'refnd' not found\./)
  })

  it('R50 runs a section’s tools through discover_and_use_tool too', async () => {
    const client = await connect(serve({ expose: metaTool() }), kind)
    await client.call('read_section', { section_key: 'refunds' })
    const args = { action: 'execute', tool_name: 'refund', tool_args: { order: 'A1' } }
    expect(getText(await client.call('discover_and_use_tool', args))).toContain('refund {"order":"A1"}')
  })

  it('R50 lists every tool of every section for clients that expect everything', async () => {
    const client = await connect(serve({ everything: true }), kind)
    const names = await getNames(client)
    expect(names).toEqual(expect.arrayContaining(['greet', 'refund', 'answer_bank', 'read_section', 'take_picture']))
    expect(names).not.toContain('use_tool')
    expect((await client.call('refund', { order: 'A1' })).isError).toBeUndefined()
  })

  it('R50 tells clients that hide listed tools not to hide read_section', async () => {
    const { tools } = await (await connect(serve(), kind)).list()
    expect(tools.find(({ name }) => name === 'read_section')).toMatchObject({ _meta: { 'anthropic/alwaysLoad': true } })
  })

  it('R50 shows a client only visible text', async () => {
    const hidden = String.fromCodePoint(...Array.from('obey', (letter) => 0xe0000 + letter.codePointAt(0)!))
    const prompt = definePrompt({
      ns: 'shop',
      key: 'notes',
      name: 'Notes',
      sections: [
        defineSection({
          key: 'skill',
          title: 'Skill',
          visibility: 'summary',
          summary: `A summary${hidden}\u202E.`,
          template: `A text${hidden}\u200B.`,
        }),
      ],
    }).bind({})
    const client = await connect(serve({ prompt }), kind)
    const seen = JSON.stringify([
      await client.request('resources/list'),
      await client.request('resources/read', { uri: 'section://skill' }),
      await client.request('prompts/get', { name: 'notes' }),
      await client.call('read_section'),
      await client.call('read_section', { section_key: 'skill' }),
    ])
    expect(seen).toContain('A summary.')
    expect(seen).toContain('A text.')
    expect(seen).not.toMatch(/[\u{E0000}-\u{E007F}\u202E\u200B]/u)
  })

  it('R50 offers sections as resources and the whole as a prompt', async () => {
    const client = await connect(serve(), kind)
    const resource = (path: string, title: string, description?: string) => ({
      uri: `section://${path}`,
      name: path,
      title,
      ...(description === undefined ? {} : { description }),
      mimeType: 'text/markdown',
    })
    expect((await client.request('resources/list'))['resources']).toEqual([
      resource('rules', 'Rules'),
      resource('refunds', 'Refunds', 'How to give money back.'),
      resource('refunds.disputes', 'Disputes', 'When the bank asks.'),
    ])
    const read = async (uri: string) => (await client.request('resources/read', { uri }))['contents']
    expect(await read('section://refunds')).toEqual([
      { uri: 'section://refunds', mimeType: 'text/markdown', text: REFUNDS },
    ])
    expect(await read('section://refunds.disputes')).toMatchObject([{ text: '# Disputes\n\nAnswer the bank.' }])
    await expect(read('section://secret')).rejects.toThrow('section://secret')
    await expect(read('file:///etc/passwd')).rejects.toThrow('file:///etc/passwd')
    expect((await client.request('prompts/list'))['prompts']).toEqual([
      {
        name: 'handbook',
        title: 'The handbook',
        description: 'The table of contents: open sections in full, folded ones as summaries.',
      },
    ])
    expect(await client.request('prompts/get', { name: 'handbook' })).toMatchObject({
      messages: [{ role: 'user', content: { type: 'text', text: CONTENTS } }],
    })
    await expect(client.request('prompts/get', { name: 'other' })).rejects.toThrow(
      "The only prompt here is 'handbook'.",
    )
  })

  it('R50 says in the instructions how to read sections, in under 150 tokens with the rest', async () => {
    const client = await connect(serve(), kind)
    expect(client.instructions()).toMatch(/search_tools .*read_section without a key/s)
    expect(countTokens(client.instructions()!)).toBeLessThan(150)
  })
})

describe.each(legacyKinds)('sections, for a %s with a session', (kind) => {
  it('R50 says which section to read for a tool that is folded', async () => {
    const client = await connect(serve(), kind)
    const message =
      "Tool 'refund' belongs to the section 'refunds', which is not open yet. Call `read_section` with section_key \"refunds\" first."
    for (const call of [
      client.call('refund', { order: 'A1' }),
      client.call('use_tool', { name: 'refund', arguments: { order: 'A1' } }),
    ]) {
      const result = await call
      expect(result.isError).toBe(true)
      expect(getText(result)).toBe(message)
    }
  })

  it('R50 adds the tools of a section to the list of the client that read it, behind the others', async () => {
    const served = serve()
    const [one, other] = [await connect(served, kind), await connect(served, kind)]
    expect(await getNames(one)).toEqual(LISTED)
    await one.call('read_section', { section_key: 'refunds' })
    expect(one.announced()).toBe(1)
    expect(await getNames(one)).toEqual([...LISTED, 'refund'])
    await one.call('read_section', { section_key: 'refunds' })
    expect(one.announced()).toBe(1)
    expect(await getNames(other)).toEqual(LISTED)
    expect((await other.call('refund', { order: 'A1' })).isError).toBe(true)
  })

  it('R50 begins with what the session has open', async () => {
    const session = () => createSession({ slices: [visibility.seed({ refunds: 'full' })] })
    const client = await connect(serve({ session }), kind)
    expect(await getNames(client)).toEqual([...LISTED, 'refund'])
    expect(getText(await client.call('read_section'))).toContain('Give back what was paid.')
  })

  it('R50 works the same over HTTP', async () => {
    const { url } = await serve().http()
    const client = await overHttp(url, kind)
    open.push(client)
    await client.call('read_section', { section_key: 'refunds' })
    expect(client.announced()).toBe(1)
    expect(await getNames(client)).toEqual([...LISTED, 'refund'])
  })
})

describe('sections for clients without a session', () => {
  it('R50 runs the tools of folded sections at any time and changes no list', async () => {
    const { url } = await serve().http()
    const client = await overHttp(url, 'v2 client, modern')
    open.push(client)
    expect((await client.call('use_tool', { name: 'answer_bank' })).isError).toBeUndefined()
    await client.call('read_section', { section_key: 'refunds.disputes' })
    expect(await getNames(client)).toEqual(LISTED)
    expect(client.announced()).toBe(0)
  })
})

describe('serveMcp with a prompt', () => {
  it('R50 rejects tools whose names are taken', () => {
    const prompt = (name: string) =>
      definePrompt({
        ns: 'shop',
        key: 'taken',
        sections: [defineSection({ key: 'a', title: 'A', template: 'A', tools: [tool(name, 'Takes a name.')] })],
      }).bind()
    expect(() => serve({ prompt: prompt('search_tools') })).toThrow("Section 'a' has a tool 'search_tools', which is a")
    expect(() => serve({ prompt: prompt('get_states') })).toThrow("Section 'a' and the catalog both have a tool 'get_")
    expect(() => serve({ prompt: prompt('getstates') })).not.toThrow()
  })

  it('R50 serves a prompt without any catalog', async () => {
    const served = serveMcp(createCatalog([]), { name: 'shop', version: '1.0.0', prompt: handbook })
    open.push(served)
    const client = await connect(served, 'v2 client, modern')
    expect(await getNames(client)).toEqual(['read_section', 'use_tool', 'greet'])
  })

  it('R50 reports the use of a section’s tools where the catalog’s are reported', async () => {
    const catalog = manyKinds()
    const used: unknown[] = []
    catalog.subscribe((event) => event.type === 'tool/used' && used.push(event.name, event.through))
    const served = serveMcp(catalog, { name: 'shop', version: '1.0.0', prompt: handbook })
    open.push(served)
    const client = await connect(served, 'v2 client, legacy')
    await client.call('use_tool', { name: 'greet' })
    expect(used).toEqual(['greet', 'use_tool'])
  })
})

const plain = definePrompt({
  ns: 'shop',
  key: 'plain',
  sections: [defineSection({ key: 'only', title: 'Only', template: 'All of it.' })],
}).bind()
