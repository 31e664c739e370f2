import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createProgress } from './progress.ts'

function open(stream: { readonly isTTY?: boolean; readonly columns?: number }) {
  const written: string[] = []
  return { written, stderr: { ...stream, write: (text: string) => written.push(text) } }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('R58 progress', () => {
  it('is shown on a terminal only, within its width, and cleared at the end', async () => {
    const { written, stderr } = open({ isTTY: true, columns: 20 })
    const progress = createProgress({ stderr, env: { NO_COLOR: '1' } }, {})
    const result = await progress.during(
      () => 'Waiting for a very slow \u001B[31m server',
      async () => {
        vi.advanceTimersByTime(350)
        progress.stream.write('a line\n')
        vi.advanceTimersByTime(150)
        return 7
      },
    )
    expect(result).toBe(7)
    const drawn = written.filter((text) => text.includes('Waiting'))
    expect(drawn.length).toBeGreaterThan(1)
    for (const text of drawn) expect(text.slice('\r\u001B[2K'.length).length).toBeLessThan(20)
    expect(written[written.indexOf('a line\n') - 1]).toBe('\r\u001B[2K')
    expect(written.at(-1)).toBe('\r\u001B[2K')
  })

  it.each([
    ['elsewhere', {}, {}, {}],
    ['with --quiet', { isTTY: true }, {}, { quiet: true }],
    ['on a dumb terminal', { isTTY: true }, { TERM: 'dumb' }, {}],
  ])('is not shown %s', async (_where, stream, env, options) => {
    const { written, stderr } = open(stream)
    await createProgress({ stderr, env }, options).during(
      () => 'Waiting',
      async () => vi.advanceTimersByTime(250),
    )
    expect(written).toEqual([])
  })

  it('ends when the work fails', async () => {
    const { written, stderr } = open({ isTTY: true })
    const work = createProgress({ stderr, env: {} }, {}).during(
      () => 'Waiting',
      async () => {
        vi.advanceTimersByTime(250)
        throw new Error('no')
      },
    )
    await expect(work).rejects.toThrow('no')
    const count = written.length
    vi.advanceTimersByTime(250)
    expect(written).toHaveLength(count)
  })
})
