import { describe, expect, it } from 'vitest'
import { parseEnvFile } from './fill-server.ts'

const KEY = '-----BEGIN KEY-----\nMIIE+/==\n-----END KEY-----'

describe('an envFile', () => {
  it.each([
    ['A=1\nB=2', { A: '1', B: '2' }],
    ['A=1\r\nB=2\r\n', { A: '1', B: '2' }],
    ['A=1\rB=2', { A: '1', B: '2' }],
    ['not a line\r\nA=1\r\nB=2', { A: '1', B: '2' }],
    ["it's not a line\nA='1'\n=7\nB=2", { A: '1', B: '2' }],
    ['A=1\nB', { A: '1' }],
    ['export A\nB=2', { B: '2' }],
    ['text # A=1\nB=2', { B: '2' }],
    ['export A=1\n\t export B = 2\n\tC=3', { A: '1', B: '2', C: '3' }],
    ['# A=1\n\n  # B=2\nC=3 # three\nD="4 # four" # five', { C: '3', D: '4 # four' }],
    ['A=\nB=""\nC=3', { A: '', B: '', C: '3' }],
    [`A="1\nB=2\n\nnot a line"\nC='3\r\n4'\nD=\`5\n6\``, { A: '1\nB=2\n\nnot a line', C: '3\n4', D: '5\n6' }],
    [`KEY="${KEY}"\nB=2`, { KEY, B: '2' }],
    ['A="1\\n2"\nB=\'1\\n2\'', { A: '1\n2', B: '1\\n2' }],
    ['A="1\nB=2', { A: '"1', B: '2' }],
    ["A=it's\nB=2", { A: "it's", B: '2' }],
    ['A=a=b\nC=https://a.example/?b=c', { A: 'a=b', C: 'https://a.example/?b=c' }],
    ['A=1\nA=2', { A: '2' }],
    ['', {}],
  ])('has the variables of %j', (text, variables) => {
    expect(parseEnvFile(text)).toEqual(variables)
  })

  it.each(['A="', "A='\n", 'A=', '"', '\n', 'export ', ' ', 'x', 'A="1\n', `A='"\n`])(
    'is read in linear time if it has many %j',
    (part) => {
      expect(parseEnvFile(part.repeat(50_000))).toBeTypeOf('object')
    },
  )
})
