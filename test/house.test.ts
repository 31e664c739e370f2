import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findRegressions, getMeasures, readRatchet } from '../tools/house/goals.ts'
import { countFixedSleepsIn, measureHabits } from '../tools/house/habits.ts'
import { measureHouse } from '../tools/house/measure.ts'
import { endsInOf, isParticiple } from '../tools/house/names.ts'
import { parseSource, readSources } from '../tools/house/sources.ts'

const repository = join(import.meta.dirname, '..')

describe('the source of the packages', () => {
  it('meets its goals, or is no worse than before', () => {
    const measures = getMeasures(measureHouse(readSources(repository)), measureHabits(repository))
    expect(findRegressions(measures, readRatchet(join(repository, 'test/house-ratchet.json')))).toEqual([])
  })
})

describe('what is measured', () => {
  it('is a fixed sleep if a test waits for a time, and not if it asks again and again', () => {
    const count = (text: string): number => countFixedSleepsIn('a.test.ts', text)
    expect(count('await sleep(80)\nconst late = await delay(1_000)')).toBe(2)
    expect(count('await new Promise((resolve) => setTimeout(resolve, 20))')).toBe(1)
    expect(count('while (!isDone) {\n  await sleep(5)\n}\nawait takeTurns(20)')).toBe(0)
    expect(count("await run('await sleep(5)')")).toBe(0)
    expect(count('vi.useFakeTimers()\nawait sleep(5)')).toBe(0)
  })

  const library = [
    parseSource(
      'packages/a/src/entries/index.ts',
      "export { makeTea, type Tea, Pot as TeaPot } from '../tea/tea.ts'\nexport * from '../tea/cups.ts'\n",
    ),
    parseSource(
      'packages/a/src/tea/tea.ts',
      [
        "import { fill } from './fill.ts'",
        '/** Makes tea.',
        ' * @example makeTea()',
        ' */',
        'export function makeTea(): Tea {',
        '  const boiled = () => fill()!',
        '  return boiled() ? {} : boiled() ? {} : {}',
        '}',
        '// not documentation',
        'export interface Tea {}',
        '/** A pot. */',
        'export class Pot {',
        '  contentsOf() {}',
        '}',
      ].join('\n'),
    ),
    parseSource('packages/a/src/tea/cups.ts', '/** Two. */\n\nexport const CUPS = 2\n'),
    parseSource('packages/a/src/tea/fill.ts', `export const fill = () => {${'\n'.repeat(81)}}\n`),
  ]
  const house = measureHouse(library)

  it('follows re-exports to the declaration and its comment', () => {
    expect(house.entries).toEqual([{ entry: 'index', values: 3, types: 1 }])
    expect(house.undocumented.map(({ name }) => name)).toEqual(['Tea'])
    expect(house.withoutExample.map(({ name }) => name)).toEqual(['Tea', 'TeaPot', 'CUPS'])
  })

  it('counts syntax, long functions and names', () => {
    expect(house.nonNull.count).toBe(1)
    expect(house.ternaries.count).toBe(2)
    expect(house.longFunctions).toEqual([{ name: 'fill', path: 'packages/a/src/tea/fill.ts', line: 1, lines: 82 }])
    expect(house.named.participles.map(({ name }) => name)).toEqual(['boiled'])
    expect(house.named.ofs.map(({ name }) => name)).toEqual(['contentsOf'])
  })

  it('finds small files with one importer that is not an entry', () => {
    const small = [...library.slice(0, 3), parseSource('packages/a/src/tea/fill.ts', 'export const fill = () => 1\n')]
    expect(measureHouse(small).smallFiles).toEqual([
      { path: 'packages/a/src/tea/fill.ts', lines: 1, importer: 'packages/a/src/tea/tea.ts' },
    ])
  })

  it('finds files that are too long', () => {
    const long = parseSource('packages/a/src/tea/long.ts', 'export {}\n'.repeat(401))
    expect(measureHouse([...library, long]).longFiles).toEqual([{ path: 'packages/a/src/tea/long.ts', lines: 401 }])
  })

  it('finds folders with too many files', () => {
    const many = Array.from({ length: 16 }, (_, i) => parseSource(`packages/a/src/room/${i}.ts`, 'export {}\n'))
    expect(measureHouse(many).largeFolders).toEqual([{ path: 'packages/a/src/room', files: 16 }])
  })

  it('finds folders that import each other, and cycles of files, also by types', () => {
    const sources = [
      parseSource('packages/a/src/room/main.ts', "import './left/one.ts'\n"),
      parseSource(
        'packages/a/src/room/left/one.ts',
        "import type { Two } from '../right/two.ts'\nexport const one = 1\n",
      ),
      parseSource('packages/a/src/room/right/two.ts', "export { one } from '../left/one.ts'\nexport type Two = 2\n"),
      parseSource('packages/a/src/room/right/three.ts', "export const load = () => import('../left/one.ts')\n"),
    ]
    const measured = measureHouse(sources)
    const [left, right] = ['packages/a/src/room/left', 'packages/a/src/room/right']
    expect(measured.twoWayFolders).toEqual([
      {
        folders: [left, right],
        examples: [`${left}/one.ts → ${right}/two.ts`, `${right}/two.ts → ${left}/one.ts`],
      },
    ])
    expect(measured.cycles).toEqual([[`${left}/one.ts`, `${right}/two.ts`]])
    expect(measureHouse([...sources.slice(0, 1), ...sources.slice(3)]).twoWayFolders).toEqual([])
  })

  it('finds folders whose parent imports them although they import the parent', () => {
    const measured = measureHouse([
      parseSource('packages/a/src/room/main.ts', "import './left/one.ts'\n"),
      parseSource('packages/a/src/room/shared.ts', 'export {}\n'),
      parseSource('packages/a/src/room/left/one.ts', "import '../shared.ts'\n"),
    ])
    expect(measured.twoWayFolders.map(({ folders }) => folders)).toEqual([
      ['packages/a/src/room/.', 'packages/a/src/room/left'],
    ])
    expect(measured.cycles).toEqual([])
  })

  it('counts silent catches, and fields and methods of classes', () => {
    const fields = Array.from({ length: 11 }, (_, i) => `  #f${i} = ${i}`)
    const large = ['class Large {', ...fields, '  constructor(readonly a: 1, private b: 2, c: 3) {}', '  m() {}', '}']
    const measured = measureHouse([
      parseSource('packages/a/src/room/large.ts', large.join('\n')),
      parseSource(
        'packages/a/src/room/quiet.ts',
        'p.catch(() => undefined)\np.catch(() => {})\np.catch((e) => log(e))\np.then(() => undefined)\n',
      ),
    ])
    expect(measured.largeClasses).toEqual([
      { name: 'Large', path: 'packages/a/src/room/large.ts', line: 1, lines: 15, fields: 13, methods: 1 },
    ])
    expect(measured.silentCatches.count).toBe(2)
  })

  it('finds what loads the MCP SDK at run time, which types do not', () => {
    const measured = measureHouse([
      parseSource('packages/a/src/one.ts', "import type { Client } from '@modelcontextprotocol/client'\n"),
      parseSource('packages/a/src/two.ts', "import { Client, type X } from '@modelcontextprotocol/client'\n"),
      parseSource('packages/a/src/three.ts', "export const load = () => import('@modelcontextprotocol/server')\n"),
    ])
    expect(measured.sdkImports).toEqual(['packages/a/src/two.ts', 'packages/a/src/three.ts'])
  })

  it('reports measures that became worse', () => {
    const measures = [{ name: 'x', label: 'x per line', value: 5, goal: 4 }]
    expect(findRegressions(measures, { x: 5 })).toEqual([])
    expect(findRegressions(measures, {})).toEqual(['x per line: 5, which is more than 4. See `npm run -s house`.'])
    expect(findRegressions([{ name: 'y', label: 'y', value: 5 }], {})).toEqual([])
    expect(findRegressions([{ name: 'y', label: 'y', value: 5 }], { y: 4 })).toHaveLength(1)
  })

  it.each(['exposed', 'halted', 'followingLines', 'hiddenTools', 'made'])('%s is a participle', (name) => {
    expect(isParticiple(name)).toBe(true)
  })
  it.each(['embed', 'bring', 'pingServer', 'redraw', 'makeTea', 'string', 'isOpened'])('%s is not', (name) => {
    expect(isParticiple(name)).toBe(false)
  })
  it('…Of names a thing, unless the name asks a question', () => {
    expect(['keysOf', 'isRecordOf', 'of', 'indexOfKey', 'anyOf'].filter(endsInOf)).toEqual(['keysOf'])
  })
})
