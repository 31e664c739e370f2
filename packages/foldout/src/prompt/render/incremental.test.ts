import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { contextFiles, createSession, openOrRead, readSection, type Visibility } from '../../entries/index.ts'
import { visibility } from '../../entries/session.ts'
import { getBound, getPaths, shapes, type Shape } from '../../testing/sections.fixtures.ts'

interface Change {
  readonly path: string
  readonly to: Visibility | 'cleared'
}

/** Generates changes that a prompt with these sections can take: a section without a summary is never folded. */
function changesFor(sections: readonly Shape[]): fc.Arbitrary<readonly Change[]> {
  const summaries = new Set<string>()
  const walk = (list: readonly Shape[], parent = ''): void =>
    list.forEach((shape, i) => {
      const path = `${parent}${parent && '.'}${String.fromCharCode(97 + i)}`
      if (shape.folds !== 'never') summaries.add(path)
      walk(shape.children, path)
    })
  walk(sections)
  const path = fc.constantFrom(...getPaths(sections))
  const change = path.chain((path) =>
    fc.record({
      path: fc.constant(path),
      to: fc.constantFrom<Change['to'][]>('full', 'cleared', summaries.has(path) ? 'summary' : 'full'),
    }),
  )
  return fc.array(change, { maxLength: 12 })
}

describe('R14 a render that starts from an earlier one', () => {
  for (const disclosure of [
    readSection(),
    readSection({ showCost: true }),
    openOrRead(),
    contextFiles({ readTool: false }),
  ]) {
    it(`R14 has the same bytes and tools as one from scratch: ${disclosure.name}${disclosure.showCost ? ' with costs' : ''}`, () => {
      fc.assert(
        fc.property(
          shapes.chain((sections) =>
            fc.tuple(fc.constant(sections), changesFor(sections), fc.option(fc.integer({ min: 5, max: 300 }))),
          ),
          ([sections, changes, tokens]) => {
            const bound = getBound(sections)
            const session = createSession()
            const options = { session, disclosure, ...(tokens === null ? {} : { budget: { tokens } }) }
            for (const { path, to } of changes) {
              session.dispatch(
                to === 'cleared'
                  ? visibility.events.cleared({ path })
                  : visibility.events.set({ path, visibility: to }),
              )
              const next = bound.render(options)
              const fresh = getBound(sections).render(options)
              expect(next.text).toBe(fresh.text)
              expect(next.tools.map(({ name }) => name)).toEqual(fresh.tools.map(({ name }) => name))
              expect(next.summarized).toEqual(fresh.summarized)
              expect(next.tokens).toEqual(fresh.tokens)
              expect(next.text).toBe(next.nodes.map((node) => node.text).join('\n\n'))
            }
          },
        ),
        { numRuns: 120 },
      )
    })
  }

  it('R14 stays correct when two sessions render alternately', () => {
    fc.assert(
      fc.property(
        shapes.chain((sections) => fc.tuple(fc.constant(sections), changesFor(sections), changesFor(sections))),
        ([sections, left, right]) => {
          const bound = getBound(sections)
          const sessions = [createSession(), createSession()]
          for (let i = 0; i < Math.max(left.length, right.length); i++) {
            for (const [which, changes] of [left, right].entries()) {
              const session = sessions[which]!
              const change = changes[i]
              if (change && change.to !== 'cleared')
                session.dispatch(visibility.events.set({ path: change.path, visibility: change.to }))
              expect(bound.render({ session }).text).toBe(getBound(sections).render({ session }).text)
            }
          }
        },
      ),
      { numRuns: 60 },
    )
  })

  it('R14 stays correct after one change far down in many sections', () => {
    const sections: Shape[] = Array.from({ length: 26 }, () => ({
      folds: 'folded',
      enabled: true,
      dynamic: false,
      tools: 0,
      params: true,
      children: Array.from({ length: 20 }, () => ({
        folds: 'folded',
        enabled: true,
        dynamic: false,
        tools: 1,
        params: false,
        children: [],
      })),
    }))
    const bound = getBound(sections)
    const session = createSession()
    bound.render({ session })
    for (const path of ['z', 'm', 'z.t', 'a', 'm.c', 'm.d']) {
      session.dispatch(visibility.events.set({ path, visibility: 'full' }))
      const next = bound.render({ session })
      const fresh = getBound(sections).render({ session })
      expect(next.text).toBe(fresh.text)
      expect(next.tools.map(({ name }) => name)).toEqual(fresh.tools.map(({ name }) => name))
    }
  })
})
