import { describe, expect, it } from 'vitest'
import type { Searchable } from './contract.ts'
import { createSearchIndex } from './engine/search-index.ts'
import { startCpuClock } from '../../core/cpu.fixtures.ts'
import { MAX_QUERY_CHARACTERS } from './limits.ts'
import { findValueKinds, getArgumentWords } from './text/arguments.ts'
import { HOUSEHOLD, toolNamed } from './tools.fixtures.ts'

async function findFirst(tools: readonly Searchable[], query: string): Promise<string | undefined> {
  const index = createSearchIndex({ embed: false })
  for (const tool of tools) index.add(tool)
  return (await index.search(query)).hits[0]?.tool.name
}

describe('parts of words', () => {
  const tools = [
    toolNamed('youtube_search', { description: 'Finds videos' }),
    toolNamed('run_query', { description: 'Runs SQL on a postgresql database' }),
    toolNamed('get_indicator', { description: 'Data of the World Bank about a country' }),
    toolNamed('openweather_now', { description: 'Rain and wind' }),
    toolNamed('list_clips', { description: 'Videos of this week, by channel' }),
    toolNamed('list_tables', { description: 'Tables of a database' }),
    toolNamed('list_banks', { description: 'Banks near a place in the world' }),
  ]

  it.each([
    ['videos of popular YouTubers', 'youtube_search'],
    ['ask Postgres', 'run_query'],
    ['worldbank numbers', 'get_indicator'],
    ['open weather', 'openweather_now'],
  ])('R45 finds text that is written in another way: "%s"', async (query, name) => {
    expect(await findFirst(tools, query)).toBe(name)
  })

  it('R45 explains that a part of a word was found', async () => {
    const index = createSearchIndex({ embed: false })
    for (const tool of tools) index.add(tool)
    const explain = async (query: string, name: string) =>
      (await index.explain(query, name))!.words.map(({ word, matched, how }) => [word, matched, how])
    expect(await explain('ask postgres', 'run_query')).toEqual([['postgres', 'postgresql', 'part']])
    expect(await explain('worldbank', 'get_indicator')).toEqual([
      ['worldbank', 'world', 'part'],
      ['worldbank', 'bank', 'part'],
    ])
    expect(await explain('open weather', 'openweather_now')).toEqual([['open weather', 'openweather', 'part']])
  })

  it('R45 prefers tools of a source that the query names', async () => {
    const issues = ['jira', 'github', 'linear'].flatMap((source) => [
      toolNamed('create_issue', { source, description: 'Reports a bug' }),
      toolNamed('list_issues', { source, description: 'Open bugs and issues, and who works on these issues' }),
    ])
    const index = createSearchIndex({ embed: false })
    for (const tool of [...issues, ...HOUSEHOLD]) index.add(tool)
    const { hits } = await index.search('show issues of linear')
    expect(hits[0]!.tool.qualified).toBe('linear/list_issues')
  })
})

describe('names in two capitalized parts', () => {
  const tools = [
    toolNamed('lint-files', { description: 'Checks a file with ESLint' }),
    toolNamed('run_script', { description: 'Runs a script' }),
    toolNamed('java_build', { description: 'Builds a Java project' }),
    toolNamed('drink_coffee', { description: 'Drinks coffee on Java' }),
  ]

  it('R45 count as one word', async () => {
    expect(await findFirst(tools, 'lint my JavaScript file')).toBe('lint-files')
    const index = createSearchIndex({ embed: false })
    for (const tool of [...tools, toolNamed('evaluate', { description: 'Evaluates javascript' })]) index.add(tool)
    const { words } = (await index.explain('evaluate JavaScript', 'evaluate'))!
    expect(words.filter(({ how }) => how === 'stem').map(({ word }) => word)).toEqual(['evaluate', 'javascript'])
  })
})

describe('kinds of values', () => {
  const tools = [
    toolNamed('post', { description: 'Posts a text to a channel' }),
    toolNamed('show', { description: 'Shows an issue and its status' }),
    toolNamed('merge', { description: 'Merges a pull request' }),
    toolNamed('load', { description: 'Loads the content of a file' }),
    toolNamed('fetch', { description: 'Fetches a URL' }),
    ...HOUSEHOLD,
  ]

  it.each([
    ['hello to #general', 'post'],
    ['what about ABC-123', 'show'],
    ['close #42', 'show'],
    ['PR 42', 'merge'],
    ['what does /tmp/notes say', 'load'],
    ['summarize report.pdf', 'load'],
    ['C:\\work\\a.txt', 'load'],
    ['https://example.com/a/b?c=d', 'fetch'],
    ['tell ada@example.com about it', 'send_email'],
  ])('R45 say what a request is about that does not say it: "%s"', async (query, first) => {
    expect(await findFirst(tools, query)).toBe(first)
  })

  it('R45 are explained, and count less than a word', async () => {
    const index = createSearchIndex({ embed: false })
    for (const tool of tools) index.add(tool)
    const { words } = (await index.explain('hello to #general', 'post'))!
    expect(words.filter(({ how }) => how !== 'action')).toEqual([
      {
        word: '#general',
        matched: 'channel',
        fields: ['description'],
        how: 'kind',
        score: expect.any(Number) as number,
      },
    ])
  })

  it.each([
    ['the channel #general', []],
    ['issue ABC-123', []],
    ['encode it as UTF-8 by ISO-8601 with SHA-256 and GPT-4', []],
    ['and/or 24/7 v1.2.3 e.g. a.b', []],
    ['PR #7, see #8 and #9', ['pull', 'request', 'issue']],
    ['mail bob@example.com the file at https://example.com/x.pdf', ['url', 'email']],
  ])('R45 are left out where a word says them, or where it is something else: "%s"', (query, kinds) => {
    expect(findValueKinds(query).map(({ kind }) => kind)).toEqual(kinds)
  })

  it('R45 cost no more than reading the request', () => {
    for (const text of [
      '#'.repeat(100_000),
      '/a'.repeat(50_000),
      'a@'.repeat(50_000),
      'A-'.repeat(50_000),
      'a.'.repeat(50_000),
    ]) {
      const getCpuMs = startCpuClock()
      findValueKinds(text.slice(0, MAX_QUERY_CHARACTERS))
      expect(getCpuMs()).toBeLessThan(500)
    }
  })
})

describe('tools that delete or stop something', () => {
  const tools = [
    toolNamed('delete_customer', { description: 'Deletes a customer.' }),
    toolNamed('delete_relations', { description: 'Deletes relations of the knowledge graph.' }),
    toolNamed('change_plan', { description: 'Changes or cancels the plan of a customer.' }),
    toolNamed('read_file', { description: 'Reads a file.' }),
    toolNamed('write_file', { description: 'Writes a file.' }),
    toolNamed('delete_event', { description: 'Deletes an event from the calendar.' }),
  ]
  const search = async (query: string) => {
    const index = createSearchIndex()
    for (const tool of tools) index.add(tool)
    const { hits, fit } = await index.search(query)
    return { first: hits[0]?.tool.name, fit }
  }

  it('R45 are not first for other requests', async () => {
    expect(await search('cancel the plan of a customer')).toEqual({ first: 'change_plan', fit: 'good' })
    for (const query of ['delete a file', 'remove the file notes.txt'])
      expect((await search(query)).first).toMatch(/_file$/)
  })

  it('R45 are found for what they are', async () => {
    expect(await search('delete a customer')).toEqual({ first: 'delete_customer', fit: 'good' })
    expect(await search('remove the event from my calendar')).toEqual({ first: 'delete_event', fit: 'good' })
  })

  it('R45 are doubted if none of them is about what the request wants to lose', async () => {
    expect((await search('delete a file')).fit).toBe('weak')
    expect((await search('read a file')).fit).toBe('good')
  })
})

describe('actions', () => {
  const tools = [
    toolNamed('letter_delete', { description: 'Letters about a topic in the archive' }),
    toolNamed('letter_shelf', { description: 'Letters about a topic in the archive' }),
    ...HOUSEHOLD,
  ]

  it('R45 does not offer to delete or stop something to those who ask for something else', async () => {
    expect(await findFirst(tools, 'find letters about a topic')).toBe('letter_shelf')
    for (const query of [
      'delete letters about a topic',
      'get rid of letters about a topic',
      'find letters and erase them',
    ]) {
      expect(await findFirst(tools, query)).toBe('letter_delete')
    }
    // Without a verb, anything may be meant.
    expect(await findFirst(tools, 'letters about a topic')).toBe('letter_delete')
  })

  it('R45 explains that an action was not asked for', async () => {
    const index = createSearchIndex({ embed: false })
    for (const tool of tools) index.add(tool)
    const { hits } = await index.search('find letters about a topic')
    const hit = hits.find(({ tool }) => tool.name === 'letter_delete')
    const { score, words } = hit!.explain()
    expect(score).toBeCloseTo(hit!.score, 9)
    const action = words.find(({ how }) => how === 'action')
    expect(action).toMatchObject({ word: 'find', matched: 'delete', fields: ['name'] })
    expect(action!.score).toBeLessThan(0)
  })
})

describe('arguments', () => {
  it('R45 distinguishes paths, addresses, blobs, numbers and days from words that describe the tool', () => {
    const getWeak = (request: string) => [...getArgumentWords(request).weak].sort()
    expect(getWeak('read /home/ann/report.pdf')).toEqual(['ann', 'home', 'pdf', 'report'])
    expect(getWeak('open https://youtube.com/watch?v=abc')).toEqual(['abc', 'v', 'watch'])
    expect(getWeak('write to ann@example.com about 3 lamps')).toEqual(['3', 'ann', 'com', 'example'])
    expect(getWeak('use the token sk_live_51HfooBARbazabcdef')).toContain('live')
    expect(getWeak('meet on Monday')).toEqual(['monday'])
    expect(getWeak('Monday to Friday, 10 o’clock')).toEqual(['10', 'friday', 'monday'])
    expect(getWeak('create an item in Monday')).toEqual([])
    expect(getWeak('write the report into /tmp/report.txt')).toEqual(['tmp', 'txt'])
  })

  it('R45 does not confuse a day of the week with the product of that name', async () => {
    const tools = [
      toolNamed('create_item', { source: 'monday', description: 'Adds an item to a board of Monday' }),
      toolNamed('create_event', { source: 'calendar', description: 'Schedules a meeting' }),
      ...HOUSEHOLD,
    ]
    expect(await findFirst(tools, 'schedule a meeting on Monday')).toBe('create_event')
    expect(await findFirst(tools, 'add something to my board in Monday')).toBe('create_item')
  })
})

describe('other scripts', () => {
  const tools = [
    toolNamed('a', { description: '查询城市的天气预报' }),
    toolNamed('b', { description: '发送电子邮件给联系人' }),
    toolNamed('c', { description: 'ファイルを読み込む' }),
    toolNamed('d', { description: '파일을 삭제합니다' }),
    toolNamed('e', { description: 'Удаляет файл с диска' }),
    toolNamed('f', { description: 'ค้นหาร้านอาหาร' }),
    ...HOUSEHOLD,
  ]

  it.each([
    ['今天的天气怎么样', 'a'],
    ['电子邮件', 'b'],
    ['このファイルを読んで', 'c'],
    ['파일 삭제', 'd'],
    ['удаляет файл', 'e'],
    ['ร้านอาหาร', 'f'],
  ])('R45 finds a tool described in the script of "%s"', async (query, name) => {
    const index = createSearchIndex()
    for (const tool of tools) index.add(tool)
    const { hits, fit } = await index.search(query)
    expect([hits[0]?.tool.name, fit]).toEqual([name, 'good'])
  })
})
