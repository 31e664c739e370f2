import { describe, expect, it } from 'vitest'
import { fillVariables, usesRoot } from './variables.ts'

const fill = (text: string, env: NodeJS.ProcessEnv = {}): string => fillVariables(text, { env, root: undefined })

describe('variables', () => {
  it.each([
    ['${A:-${B}}', { A: '1', B: '2' }, '1'],
    ['${A:-${B}}', { A: '1' }, '1'],
    ['${A:-${B}}', { B: '2' }, '2'],
    ['${A:-${B:-${C:-three}}}', {}, 'three'],
    ['<${A:-a ${B} b}>', { B: '2' }, '<a 2 b>'],
    ['${A:-{"x": {}}}', {}, '{"x": {}}'],
    ['{"x": "${A:-1}"}', {}, '{"x": "1"}'],
    ['${A:-${B}', { B: '2' }, '${A:-2'],
    ['${A:-{}', {}, '${A:-{}'],
    ['a}${A:-b}}', {}, 'a}b}'],
    ['${1} ${} ${A-x} ${env:A}', { A: '1' }, '${1} ${} ${A-x} ${env:A}'],
    ['${EMPTY:-x}', { EMPTY: '' }, 'x'],
    ['${A}', { A: '${B}', B: '2' }, '${B}'],
    ['${ROOT:-${HOME}}', { HOME: '/h' }, '/h'],
    ['${HOME}\\a', { USERPROFILE: 'C:\\Users\\ada' }, 'C:\\Users\\ada\\a'],
    ['${HOME}', { HOME: '/h', USERPROFILE: 'C:\\Users\\ada' }, '/h'],
  ])('fill in %s with %j', (text, env, filled) => {
    expect(fill(text, env)).toBe(filled)
  })

  it.each(['${A:-${B}}', '${B}${C}', '${A:-{${B}}}', '${A:-${B}'])('are missing in %s', (text) => {
    expect(() => fill(text)).toThrow(new Error('The environment variable B is not set.'))
  })

  it.each([
    ['${ROOT}', true],
    ['${ROOT:-${HOME}}/a', true],
    ['${A:-${ROOT}}', true],
    ['${ROOTS}', false],
  ])('may depend on the folder of the client: %s is %s', (text, isDependent) => {
    expect(usesRoot(text)).toBe(isDependent)
  })

  it.each(['${A:-', '${A', '$', '{', '}', '${A:-{', '${'])('are found in linear time in a text of many %s', (part) => {
    const text = part.repeat(100_000)
    expect(fill(text)).toBe(text)
  })

  it('may be in the defaults of others in linear time, however deep', () => {
    const deep = `${'${A:-x'.repeat(100_000)}${'}'.repeat(100_000)}`
    expect(fill(deep)).toBe('x'.repeat(100_000))
    expect(fill(deep, { A: '1' })).toBe('1')
  })
})
