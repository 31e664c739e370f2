import { describe, expect, it } from 'vitest'
import { MAX_SHOWN_CHARACTERS, MAX_SHOWN_CUT_CHARACTERS } from './limits.ts'
import { createSecrets } from '../secrets/secrets.ts'
import { showArguments } from './show-arguments.ts'

const secrets = createSecrets()
const LONG = 'x'.repeat(4_000_000)

describe('the arguments that a person approves', () => {
  it('are JSON if they are short', () => {
    const args = { to: 'ann', list: [1, { a: null }], none: {}, empty: [] }
    expect(showArguments(args, secrets)).toBe(JSON.stringify(args, null, 2))
  })

  it.each([
    ['a text', { note: LONG, amount: 9_999 }],
    ['a name', { [LONG]: 1, amount: 9_999 }],
    ['a list', { note: Array.from({ length: 100_000 }, () => 1), amount: 9_999 }],
    ['a list of texts', { note: Array.from({ length: 1_000 }, () => LONG.slice(0, 1_000)), amount: 9_999 }],
    ['a text within an object', { options: { note: LONG, amount: 9_999 } }],
    ['a text in a list', { options: [{ note: LONG, amount: 9_999 }] }],
  ])('are cut one by one: %s hides nothing that follows', (_, args) => {
    const shown = showArguments(args, secrets) ?? ''
    expect(shown).toContain('"amount": 9999')
    expect(shown).toMatch(/more (?:characters|items) are not shown/)
    expect(shown.length).toBeLessThan(MAX_SHOWN_CHARACTERS + 1)
  })

  it('count what is left out where no text can imitate it', () => {
    expect(showArguments({ note: LONG }, secrets)).toBe(
      `{\n  "note": "${'x'.repeat(3_000)}"… (3997000 more characters are not shown)\n}`,
    )
  })

  it('are not shown in part if there are too many of them, or if they are nested too deeply', () => {
    const many = Object.fromEntries(Array.from({ length: MAX_SHOWN_CUT_CHARACTERS }, (__, i) => [`field${i}`, i]))
    expect(showArguments({ ...many, amount: 9_999 }, secrets)).toBeUndefined()
    let deep: unknown = {}
    for (let i = 0; i < 100_000; i++) deep = [deep]
    expect(showArguments({ deep }, secrets)).toBeUndefined()
  })

  it('have no half of a secret at a cut', () => {
    const hiding = createSecrets()
    hiding.add(['correct-horse-battery'])
    const shown = showArguments({ note: `${'x'.repeat(2_990)}correct-horse-battery${LONG}` }, hiding)
    expect(shown).not.toContain('correct')
  })
})
