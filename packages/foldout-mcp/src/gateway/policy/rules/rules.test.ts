import { describe, expect, it } from 'vitest'
import { UsageError } from '../../config/config.ts'
import type { RuleDefinition } from '../../config/definition.ts'
import { readDefinition } from '../../config/read-config.ts'
import { createRules, findIdleRules, NOBODY, type ToolFacts } from './rules.ts'

const tool = (path: string, more: Partial<ToolFacts> = {}): ToolFacts => {
  const [server = '', name = ''] = path.split('/')
  return { preset: '', server, names: [name], annotations: undefined, ...more }
}
const decide = (rules: readonly RuleDefinition[], facts: ToolFacts, who = NOBODY) =>
  createRules(rules).decide(who, facts).action

describe('R56 rules', () => {
  it('are tried in order, and allow what no rule matches', () => {
    const rules: readonly RuleDefinition[] = [
      { action: 'allow', tool: 'mail/get_*' },
      { action: 'ask', server: ['mail', 'chat'] },
      { action: 'deny', tool: ['*/delete_*', 'files/write'] },
    ]
    expect(decide(rules, tool('mail/get_one'))).toBe('allow')
    expect(decide(rules, tool('mail/delete_one'))).toBe('ask')
    expect(decide(rules, tool('files/delete_one'))).toBe('deny')
    expect(decide(rules, tool('files/read'))).toBe('allow')
    expect(decide([{ action: 'deny' }], tool('a/b'))).toBe('deny')
  })

  it.each([
    ['readOnly', { readOnlyHint: true }, true],
    ['readOnly', undefined, false],
    ['destructive', undefined, true],
    ['destructive', { destructiveHint: false }, false],
    ['destructive', { readOnlyHint: true, destructiveHint: true }, false],
    ['openWorld', {}, true],
    ['openWorld', { openWorldHint: false }, false],
  ] as const)('decide whether a tool is %s from its annotations %j: %j', (annotation, annotations, fits) => {
    expect(decide([{ action: 'deny', annotation }], tool('a/b', { annotations }))).toBe(fits ? 'deny' : 'allow')
  })

  it('need all annotations of a list', () => {
    const rules: readonly RuleDefinition[] = [{ action: 'ask', annotation: ['destructive', 'openWorld'] }]
    expect(decide(rules, tool('a/b'))).toBe('ask')
    expect(decide(rules, tool('a/b', { annotations: { openWorldHint: false } }))).toBe('allow')
  })

  it('match a tool by either of its names, ignoring invisible characters', () => {
    const rules: readonly RuleDefinition[] = [{ action: 'deny', tool: 'a/delete' }]
    expect(decide(rules, tool('a/x', { names: ['delete', 'erase'] }))).toBe('deny')
    expect(decide(rules, tool('a/x', { names: ['erase', 'delete'] }))).toBe('deny')
    expect(decide(rules, tool('a/x', { names: ['de\u200Blete\u{E0041}'] }))).toBe('deny')
    expect(decide([{ action: 'deny', tool: 'a/__proto__' }], tool('a/__proto__'))).toBe('deny')
  })

  it('match clients ignoring case, and users exactly', () => {
    const rules: readonly RuleDefinition[] = [
      { action: 'deny', client: 'cursor*' },
      { action: 'ask', user: 'ada' },
    ]
    expect(decide(rules, tool('a/b'), { client: 'Cursor-vscode', user: 'ada' })).toBe('deny')
    expect(decide(rules, tool('a/b'), { client: 'zed', user: 'ada' })).toBe('ask')
    expect(decide(rules, tool('a/b'), { client: 'zed', user: 'Ada' })).toBe('allow')
    expect(decide(rules, tool('a/b'))).toBe('allow')
    const { getProfile } = createRules(rules)
    expect(getProfile({ client: 'cursor', user: 'bob' })).toBe(getProfile({ client: 'CURSOR 2', user: undefined }))
    expect(getProfile({ client: 'cursor', user: 'ada' })).not.toBe(getProfile({ client: 'cursor', user: 'bob' }))
  })

  it('deny a whole server only if they name no tools', () => {
    const { deniesServer } = createRules([
      { action: 'deny', tool: 'mail/*' },
      { action: 'deny', server: 'chat', preset: 'work' },
    ])
    expect(deniesServer(NOBODY, '', 'mail')).toBe(false)
    expect(deniesServer(NOBODY, 'work', 'chat')).toBe(true)
    expect(deniesServer(NOBODY, '', 'chat')).toBe(false)
  })

  it('take linear time for hostile patterns and names', () => {
    const rules: readonly RuleDefinition[] = [{ action: 'deny', tool: `a/${'*a'.repeat(5_000)}b` }]
    expect(decide(rules, tool('a/x', { names: ['a'.repeat(1_000_000)] }))).toBe('allow')
  })

  it('are reported if they name something that does not exist', () => {
    const rules: readonly RuleDefinition[] = [
      { action: 'deny', server: 'gitub' },
      { action: 'deny', tool: ['gihtub/x', '*/y'] },
      { action: 'ask', preset: 'wrok', server: 'git*' },
    ]
    expect(findIdleRules(rules, ['github'], ['work'])).toEqual([
      "A rule names the server 'gitub', which matches nothing in the configuration.",
      "A rule names the server 'gihtub', which matches nothing in the configuration.",
      "A rule names the preset 'wrok', which matches nothing in the configuration.",
    ])
  })
})

describe('R56 mistakes in rules', () => {
  const read = (more: object): unknown => readDefinition({ mcpServers: {}, ...more }, { file: 'f.json', folder: '/' })
  it.each([
    [{ rules: [{ action: 'forbid' }] }, 'f.json: "rules.0.action" must be one of allow, deny, ask.'],
    [{ rules: [{ tool: 'a/b' }] }, 'f.json: "rules.0.action" must be one of allow, deny, ask.'],
    [{ rules: [{ action: 'deny', tools: 'a/b' }] }, 'f.json: "rules.0" has no setting called tools.'],
    [{ rules: [{ action: 'deny', server: 7 }] }, 'f.json: "rules.0.server" must be a pattern or a list of patterns.'],
    [{ rules: [{ action: 'deny', server: [] }] }, 'f.json: "rules.0.server" must be a pattern or a list of patterns.'],
    [
      { rules: [{ action: 'deny', tool: 'delete_*' }] },
      'f.json: "rules.0.tool" must be a pattern over server/tool, such as "github/delete_*" or "*/delete_*", or a list of them.',
    ],
    [
      { presets: { work: { rules: [{ action: 'ask', annotation: 'risky' }] } } },
      'f.json: "presets.work.rules.0.annotation" must be readOnly, destructive or openWorld, or a list of them.',
    ],
    [{ rules: {} }, 'f.json: "rules" must be a list.'],
    [{ audit: { file: 'a', size: 1 } }, 'f.json: "audit" has no setting called size.'],
    [{ audit: 7 }, 'f.json: "audit" must be true, false, a string or an object.'],
  ])('%j: %s', (more, message) => {
    expect(() => read(more)).toThrow(new UsageError(message))
  })
})
