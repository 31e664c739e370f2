import { appendFileSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { definePrompt, defineSection } from 'foldout'
import { compare, graders } from 'foldout/compare'
import { calls, says, scriptedAdapter } from 'foldout/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { removeFolder } from '../../remove-folder.fixtures.ts'
import { createRunStore } from '../runs/store.ts'
import { followComparison, isComparison, type CompareSource } from './source.ts'
import type { CompareView } from '../protocol/protocol.ts'

const guide = defineSection({
  key: 'guide',
  title: 'Guide',
  template: 'Say hello.',
  summary: 'How to greet.',
  visibility: 'summary',
})
const prompt = definePrompt({ ns: 'test', key: 'compared', sections: [guide] }).bind()

let folder = ''
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'foldout-compare-view-')))
})
afterAll(() => removeFolder(folder))

const getView = async (source: CompareSource): Promise<CompareView> => {
  const handler = source.handlers['compare/get']
  if (!handler) throw new Error('There is no view.')
  return handler({})
}

it('R80 shows what a comparison has saved, with the texts of its runs, and what is added', async () => {
  const save = join(folder, 'compare.jsonl')
  const options = {
    cases: [{ id: 'hello', input: 'Hi.', includes: 'Hello', needs: ['guide'] }],
    arms: { full: { prompt, open: 'all' }, folded: { prompt } },
    adapter: ({ arm }: { readonly arm: string }) =>
      scriptedAdapter(
        arm === 'full' ? [says('Hello.')] : [calls('read_section', { section_key: 'guide' }), says('Hm.')],
      ),
    grade: { greets: graders.includes() },
    save,
  } as const
  const report = await compare(options)
  expect(await isComparison(save)).toBe(true)
  const store = createRunStore()
  const source = await followComparison(save, store)
  try {
    expect((await getView(source)).report).toEqual(report)
    const [run] = report.cases[0]?.arms['folded']?.runs ?? []
    const model = store.get(run ?? '')
    expect(model.requests).toHaveLength(2)
    expect(model.requests[0]?.render?.text).toContain('How to greet.')
    // A torn line and a line of something else change nothing; a new run does.
    appendFileSync(save, '{"type":"run","run":"to\n{"nothing":true}\n')
    const changed = new Promise<void>((resolve) => source.subscribe?.(resolve))
    await compare({ ...options, repeat: 2 })
    await changed
    await expect.poll(async () => (await getView(source)).report?.repeats.done).toBe(2)
  } finally {
    source.close()
    store.close()
  }
})

it('R80 takes no other file for a comparison', async () => {
  const other = join(folder, 'other.jsonl')
  writeFileSync(other, '{"version":1,"runs":[]}\n')
  expect(await isComparison(other)).toBe(false)
  expect(await isComparison(join(folder, 'missing.jsonl'))).toBe(false)
})
