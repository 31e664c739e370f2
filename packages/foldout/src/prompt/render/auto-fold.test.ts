import { describe, expect, it } from 'vitest'
import { createSession, definePrompt, defineSection, runAgent, type BoundPrompt } from '../../entries/index.ts'
import { visibility } from '../../entries/session.ts'
import { says, scriptedAdapter } from '../../testing/scripted-adapter.ts'

const words = (count: number): string => Array.from({ length: count }, (_, i) => `Rule ${i + 1} holds.`).join(' ')
const section = (key: string, need: number | undefined, size = 300) =>
  defineSection({
    key,
    title: key,
    template: words(size),
    summary: `About ${key}.`,
    visibility: 'auto',
    ...(need === undefined ? {} : { need }),
  })
const prompt = (...needs: readonly (number | undefined)[]): BoundPrompt<{}> =>
  definePrompt({
    ns: 'desk',
    key: 'auto',
    sections: [
      defineSection({ key: 'role', title: 'Role', template: words(400) }),
      ...needs.map((need, i) => section(`part-${i + 1}`, need)),
    ],
  }).bind()

describe("visibility: 'auto'", () => {
  it('R86 folds what few conversations need, and says why with its numbers', () => {
    const rendered = prompt(0.05, 0.95, undefined).render()
    expect(rendered.summarized).toEqual(['part-1', 'part-3'])
    expect(rendered.trace.map((entry) => entry.type)).toEqual(['auto-folded', 'auto-open', 'auto-folded'])
    expect(rendered.trace[0]?.message).toMatch(
      /^Section 'part-1' was folded: folding it saves \d+ tokens a conversation \(5 % of 40 conversations an hour need it, it has \d+ tokens open and \d+ folded, and the cache reads at 0\.1, writes at 1\.25 and begins at 1024 tokens\)\.$/,
    )
    expect(rendered.trace[1]?.message).toMatch(/^Section 'part-2' stays open: folding it would cost \d+ tokens/)
  })

  it('R86 decides by the model that runs it, and by the traffic', async () => {
    const bound = prompt(0.5)
    const run = async (read: number, perHour: number): Promise<boolean> => {
      const scripted = scriptedAdapter([says('Done.')])
      const promptCache = { minimum: 1_024, read, write: 1.25, ttlMs: 300_000 }
      const adapter = Object.assign(scripted, { promptCache })
      await runAgent(bound, { adapter, input: 'Go.', perHour })
      return scripted.requests[0]?.system.includes('About part-1.') ?? false
    }
    expect(await run(0.025, 40)).toBe(false)
    expect(await run(0.5, 0)).toBe(true)
  })

  it('R86 gives way to the session, the caller and overrides', () => {
    const bound = prompt(0.05)
    expect(bound.render({ visibility: { 'part-1': 'full' } }).summarized).toEqual([])
    const session = createSession({ slices: [visibility.seed({ 'part-1': 'full' })] })
    expect(bound.render({ session }).summarized).toEqual([])
  })

  it('R86 decides once, so equal conversations begin with equal bytes', () => {
    const bound = prompt(0.05, 0.3, 0.6)
    const texts = new Set(Array.from({ length: 20 }, () => bound.render({ session: createSession() }).text))
    expect(texts.size).toBe(1)
  })

  it('R86 refuses a section without a summary, and a need that is no share', () => {
    const define = (options: object) => () =>
      defineSection({ key: 'a', title: 'A', template: 'A.', ...options } as never)
    expect(define({ visibility: 'auto' })).toThrow(/Give it a `summary`, or leave out visibility: 'auto'/)
    expect(define({ visibility: 'auto', summary: 'A.', need: 2 })).toThrow(/its need is 2\. Pass a share from 0 to 1/)
    expect(define({ visibility: 'some', summary: 'A.' })).toThrow(/Use 'full', 'summary' or 'auto'/)
  })
})
