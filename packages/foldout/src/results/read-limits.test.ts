import { describe, expect, it } from 'vitest'
import { readPart, type Reading } from '../entries/results.ts'

const read = (text: string, reading: Partial<Reading>) =>
  readPart(text, { from: 1, ignoreCase: false, characters: 4_000, ...reading })
const rows = JSON.stringify({
  rows: Array.from({ length: 20_000 }, (_, id) => ({ id, price: id % 100, tags: ['a', 'b'] })),
})

describe('R68 foreign patterns and paths do not stall the process', () => {
  it.each(['$..[?@..x]', '$..*..*', '$..rows..tags..x', '$.rows[?count(@..*) > 3]..*..id', '$..[?@[?@[?@.x]]]..*'])(
    'the path %s is refused for a large result, with what to write instead',
    async (path) => {
      expect(await read(rows, { path })).toEqual({ fault: expect.stringContaining('would visit too many values') })
    },
  )

  it.each(['$.rows[?count($[?count($..*) < 0]) > 0]', `$.rows[?${'count(@..*) > 9 || '.repeat(300)}@.x]`])(
    'the path %.40s looks at everything for each value, and is refused',
    async (path) => {
      expect(await read(rows, { path })).toEqual({ fault: expect.stringContaining('would visit too many values') })
    },
  )

  it('a path that selects the same value again and again is refused', async () => {
    const text = '['.repeat(60) + ']'.repeat(60)
    const path = `$${'[0,0]'.repeat(60)}.x`
    expect(await read(text, { path })).toEqual({ fault: expect.stringContaining('would visit too many values') })
  })

  it.each([
    '$.rows[0,1,2].id',
    '$.rows[?@.id == $.rows[0].id]',
    '$.rows[?@.id == 7].price',
    '$.rows[19999].id',
    '$..price',
    '$.rows[*].tags[0]',
    '$.rows[0:10]',
  ])('the path %s is answered', async (path) => {
    expect(await read(rows, { path, count: 3 })).toHaveProperty('entries')
  })

  it('a small result takes any path, and a thread of its own any result', async () => {
    expect(await read('{"a":{"b":[1,2]}}', { path: '$..*..*' })).toHaveProperty('entries')
    expect(await read('{"a":[1]}', { path: '$..[?@..x]', hasOwnThread: true })).toHaveProperty('entries')
  })

  it('a search stops after its steps, and says where to continue', async () => {
    const text = Array.from({ length: 40_000 }, () => 'a'.repeat(400)).join('\n')
    const answer = await read(text, { grep: '(a*)*(b|c)(a*)*d' })
    expect(answer).toMatchObject({ isSearch: true, next: expect.any(Number) })
  })
})
