import { runAgent } from 'foldout'
import * as telemetry from 'foldout/telemetry'
import { calls, says, scriptedAdapter } from 'foldout/testing'
import { describe, expect, it } from 'vitest'
import { clerk } from '../../cli/prompts/desk.fixtures.ts'
import { createRunStore } from '../runs/store.ts'
import { createAdviceSource } from './source.ts'

async function recordRuns(count: number) {
  const runs = createRunStore()
  for (let run = 0; run < count; run++) {
    const script = [
      calls('read_section', { section_key: 'refunds' }),
      calls('refund_order', { order: 'A' }),
      says('Done.'),
    ]
    const lines: unknown[] = []
    const onEvent = (event: unknown) =>
      void lines.push(JSON.parse(JSON.stringify({ version: 1, run: `run ${run}`, at: run, event })))
    await runAgent(clerk, { adapter: scriptedAdapter(script), input: 'Refund A.', onEvent })
    runs.add(lines)
  }
  return runs
}

describe('R59 the advice view', () => {
  it('shows what advise found in recorded runs, with the context before and after', async () => {
    const runs = await recordRuns(3)
    const source = createAdviceSource({ runs, prompt: { bound: clerk, telemetry } })
    const view = await source.handlers['advice/get']?.({})
    expect(view).toMatchObject({ runs: 3, promptRuns: 3, minRuns: 3 })
    expect(view?.items[0]).toMatchObject({ runs: 3, used: 3 })
    expect(view?.items[0]?.saved.tokens).toBeGreaterThan(0)
    expect(view?.items[0]?.before.total).toBe(clerk.render().tokens.total)
    expect(view?.items[0]?.after?.total).toBe(clerk.render().tokensIfAllOpen.total)
  })

  it('gives no advice from too few runs, and learns core tools only from enough use', async () => {
    const runs = await recordRuns(1)
    const getUse = async () => ({ version: 1, tools: [], clients: [] }) as const
    const view = await createAdviceSource({ runs, prompt: { bound: clerk, telemetry }, getUse }).handlers[
      'advice/get'
    ]?.({})
    expect(view).toMatchObject({ items: [], core: { isEnough: false, core: [] } })
  })
})
