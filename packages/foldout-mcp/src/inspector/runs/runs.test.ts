import { appendFileSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSession, runAgent, type RunState } from 'foldout'
import { createFileRecorder, recordRun } from 'foldout/node'
import { calls, says, scriptedAdapter } from 'foldout/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clerk } from '../../cli/prompts/desk.fixtures.ts'
import { createSecrets } from '../../gateway/policy/secrets/secrets.ts'
import { createRedactor } from '../../gateway/policy/secrets/redact.ts'
import { createAdviceSource } from '../advice/source.ts'
import type { Assets } from '../http/server.ts'
import { createInspector } from '../inspector.ts'
import { describeRun } from './describe.ts'
import { exportRun } from './export.ts'
import type { RunEvent } from './lines.ts'
import { RunModel } from './model.ts'
import { createPace } from './pace.ts'
import { redactRun } from './redact.ts'
import { createRunSource, explainOffer, forkRun } from './source.ts'
import { describeStep } from './steps.ts'
import { createRunStore } from './store.ts'
import { removeFolder } from '../../remove-folder.fixtures.ts'

const folder = mkdtempSync(join(tmpdir(), 'foldout-runs-'))
const file = join(folder, 'runs.jsonl')
afterAll(() => removeFolder(folder))

beforeAll(async () => {
  const adapter = scriptedAdapter([
    calls('read_section', { section_key: 'refunds' }),
    calls('refund_order', { order: 'A-17' }),
    says('Order A-17 is refunded.'),
  ])
  const recorder = recordRun({ to: file })
  await runAgent(clerk, {
    adapter,
    input: 'Refund A-17. My key is sk-abcdefghijklmnopqrst.',
    onEvent: recorder.onEvent,
  })
  await recorder.saved()
})

async function readRun(path = file) {
  const store = createRunStore()
  await store.follow(path)
  store.close()
  const [run] = store.runs
  if (!run) throw new Error('There is no run.')
  return { run, store }
}

async function readAll(parts: AsyncIterable<string>): Promise<string> {
  const all: string[] = []
  for await (const part of parts) all.push(part)
  return all.join('')
}

describe('R84 openings ahead', () => {
  it('are steps and openings, which say whether they were used', () => {
    const run = new RunModel('a', 0)
    const ahead: RunEvent = {
      type: 'sections/opened',
      rule: 'bySearch',
      keys: ['refunds'],
      tools: ['refund'],
      place: 'system',
      tokens: 1200,
    }
    run.add(1, ahead)
    run.add(2, { ...ahead, keys: [], tools: [] })
    expect(describeRun(run, 0).openingList).toEqual([
      { request: 0, keys: ['refunds'], reason: 'bySearch', answer: 'ahead', isUsed: false },
    ])
    run.add(3, { type: 'tool/called', call: { id: '1', name: 'refund', arguments: {} } })
    expect(describeRun(run, 0).openingList[0]?.isUsed).toBe(true)
    expect(run.steps.map(describeStep).map(({ kind, title, detail }) => [kind, title, detail])).toEqual([
      ['opening', 'Opened ahead: refunds', '1,200 tokens in the system text; rule: bySearch'],
      ['opening', 'Opened nothing ahead', 'rule: bySearch'],
      ['call', 'refund begins', '{}'],
    ])
  })
})

describe('R59 recorded runs', () => {
  it('have steps, messages, openings with reasons, and a chart', async () => {
    const { run } = await readRun()
    const view = describeRun(run, 0)
    expect(view).toMatchObject({ prompt: 'desk/support', status: 'completed', requests: 3, openings: 1, restarts: 0 })
    expect(view.openingList).toEqual([
      { request: 1, keys: ['refunds'], reason: expect.any(String), answer: 'in-place' },
    ])
    expect(view.chart).toHaveLength(3)
    expect(view.output).toBe('Order A-17 is refunded.')
    expect(run.steps.map(describeStep).map(({ kind }) => kind)).toEqual([
      'start',
      'render',
      'request',
      'reply',
      'call',
      'opening',
      'added',
      'request',
      'reply',
      'call',
      'call',
      'request',
      'reply',
      'end',
    ])
    expect(run.messages.map(({ role }) => role).filter((role) => role !== 'tools')).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'assistant',
      'tool',
      'assistant',
    ])
  })

  it('R77 have their price at the rates of the user, lost replies included, beside what the provider reported', () => {
    const usage = { inputTokens: 1_000, outputTokens: 100, cachedInputTokens: 600, cacheWriteTokens: 300 }
    const events: readonly RunEvent[] = [
      { type: 'reply/lost', usage },
      { type: 'reply/received', message: { text: '', toolCalls: [] }, usage: { ...usage, costUsd: 0.25 } },
    ]
    const priced = new RunModel('a', 0, { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 })
    const plain = new RunModel('b', 0)
    for (const event of events) for (const run of [priced, plain]) run.add(1, event)
    expect(priced.summary.usd).toBeCloseTo((2 * (100 * 3 + 600 * 0.3 + 300 * 3.75 + 100 * 15)) / 1e6, 12)
    expect(priced.summary).toMatchObject({ reportedUsd: 0.25, usage: { input: 2_000, output: 200, cached: 1_200 } })
    expect(plain.summary).toMatchObject({ usd: undefined, reportedUsd: 0.25 })
  })

  it('say why a tool was not offered', async () => {
    const { run } = await readRun()
    expect(explainOffer(run, 1, 'refund_order')).toEqual({
      isOffered: false,
      reason: expect.stringMatching(
        /'refunds', which was folded.*opened refunds after request 1.*Request 2 was the first/,
      ),
    })
    expect(explainOffer(run, 2, 'refund_order').isOffered).toBe(true)
    expect(explainOffer(run, 1, '__proto__').reason).toContain("has a tool '__proto__'")
    expect(explainOffer(run, 9, 'x').reason).toContain('no request 9')
  })

  it('can be forked: another run with its own id continues from there', async () => {
    const { run } = await readRun()
    const { id, json } = forkRun(run, 2)
    const fork = JSON.parse(json) as { state: RunState; visibility: object }
    expect(fork.state).toMatchObject({ id, status: 'stopped' })
    expect(JSON.stringify(fork.state)).not.toMatch(/approv/i)
    const adapter = scriptedAdapter([says('It is older than 30 days.')])
    const result = await runAgent(clerk, { adapter, ...fork })
    expect(result.text).toBe('It is older than 30 days.')
    expect(result.state.id).toBe(id)
    expect(adapter.requests[0]?.tools).toContain('refund_order')
    expect(adapter.requests[0]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
    expect(forkRun(run, 2).id).not.toBe(id)
    expect(() => forkRun(run, 7)).toThrow('no request 7')
  })

  it('are titled by what the user said, also if they continue after it', async () => {
    const path = join(folder, 'continued.jsonl')
    const session = createSession()
    const adapter = scriptedAdapter([calls('read_section', { section_key: 'refunds' }), says('Refunded.')])
    await runAgent(clerk, { adapter, session, input: 'Refund A-18.', maxTurns: 1 })
    await runAgent(clerk, { adapter, session, onEvent: recordRun({ to: path }).onEvent })
    const { run } = await readRun(path)
    expect(run.summary.input).toBe('Refund A-18.')
    expect(run.messages.map(({ role }) => role)).toEqual(['system', 'assistant'])
  })

  it('cannot be forked without the earlier turns of their chat', async () => {
    const path = join(folder, 'chat.jsonl')
    const session = createSession()
    const adapter = scriptedAdapter([says('Hello.'), says('Yes.')])
    await runAgent(clerk, { adapter, session, input: 'Hello' })
    await runAgent(clerk, { adapter, session, input: 'Are you there?', onEvent: recordRun({ to: path }).onEvent })
    const { run } = await readRun(path)
    expect(describeRun(run, 0).earlier).toBe(2)
    expect(() => forkRun(run, 1)).toThrow('2 earlier messages, which are not in its recording')
  })

  it('R60 are exported as one file without secrets, whatever they contain', async () => {
    const { run, store } = await readRun()
    const hostile = '</script><script>alert(1)</script><!--'
    store.add([{ version: 1, run: run.id, at: Date.now(), event: { type: 'warning', message: hostile } }])
    const text = (value: string) => ({ type: '', bytes: Buffer.from(value) })
    const assets: Assets = new Map([
      ['page.js', text('console.log("</script>")')],
      ['style.css', text('body {}')],
    ])
    const redactor = createRedactor(createSecrets(['A-17 is refunded']))
    const { parts, name } = exportRun(run, { redactor, assets })
    const html = await readAll(parts)
    expect(name).toMatch(/^run-[\w-]+\.html$/)
    expect(html).not.toContain('sk-abcdefghijklmnopqrst')
    expect(html).not.toContain('A-17 is refunded')
    expect(html).toContain('My key is ***')
    expect(html.match(/<script/g)).toHaveLength(2)
    expect(html.match(/<\/script>/g)).toHaveLength(2)
    expect(html).toMatch(/script-src 'sha256-[^']+'/)
    expect(html).not.toMatch(/https?:\/\//)
  })

  it('R60 are exported a little at a time, so that others are answered meanwhile', async () => {
    const store = createRunStore()
    const text = 'A line of a long result with https://user:password@example.com/ in it. '.repeat(100)
    const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0 }
    for (let i = 0; i < 300; i++)
      store.add(
        [
          { type: 'request/sent', messages: i, tools: ['work'] },
          {
            type: 'reply/received',
            message: { text, toolCalls: [{ id: `c${i}`, name: 'work', arguments: { text } }] },
            usage,
          },
          { type: 'tool/invoked', callId: `c${i}`, name: 'work', ok: true, message: text, durationMs: 1 },
        ].map((event) => ({ version: 1, run: 'long', at: i, event })),
      )
    const source = createRunSource(store, { redactor: createRedactor(createSecrets([])) })
    const inspector = await createInspector([source], { title: 'long' })
    try {
      const redacted = new AbortController()
      const read = async (): Promise<string> => {
        const { body } = await fetch(`${inspector.url}export/long.html`)
        let text = ''
        for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
          text += chunk
          // Its data comes when all of the run has been read and its secrets are removed, which takes longest.
          if (!redacted.signal.aborted && text.includes('id="recorded"')) redacted.abort()
        }
        return text
      }
      const exported = read()
      let answered = 0
      while (!redacted.signal.aborted) {
        const { ok } = await fetch(`${inspector.url}api/runs/list`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{}',
        })
        if (ok) answered++
      }
      expect(answered).toBeGreaterThan(3)
      expect((await exported).length).toBeGreaterThan(5_000_000)
      expect((await fetch(`${inspector.url}export/another.html`)).status).toBe(404)
      expect((await fetch(`${inspector.url}export/%E0.html`)).status).toBe(404)
    } finally {
      await inspector.close()
    }
  })

  it('R60 keep the beginning of long texts in an export, without half of a secret at its end', async () => {
    const secret = 'correct-horse-battery'
    const long = `${'word '.repeat(13_105)}${secret} ${'word '.repeat(1_000)}`
    const store = createRunStore()
    const events = [
      { type: 'run/started', isResumed: false, input: long },
      { type: 'request/sent', messages: 1, tools: [] },
    ]
    store.add(events.map((event) => ({ version: 1, run: 'a', at: 1, event })))
    const [run] = store.runs
    if (!run) throw new Error('There is no run.')
    const { messages } = await redactRun(run, createRedactor(createSecrets([secret])), createPace())
    const [message] = messages
    expect(message?.text).toMatch(/^word word [^]*\n… and [\d,]+ more characters, which are not exported$/)
    expect(message?.text).not.toContain('correct')
  })

  it('R60 are shown whatever they contain: deep arguments, odd numbers, prototype keys', async () => {
    const { store } = await readRun()
    const deep = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`) as unknown
    const call = { id: 'c', name: '__proto__', arguments: { constructor: deep } }
    const usage = { inputTokens: -1e308, outputTokens: 1e308, cachedInputTokens: 1e308, cacheWriteTokens: 0 }
    store.add(
      [
        { type: 'run/started', isResumed: false, input: '\uD800' },
        { type: 'request/sent', messages: -5, tools: ['constructor', '__proto__'] },
        { type: 'reply/received', message: { text: '', toolCalls: [call] }, usage },
        { type: 'tool/called', call },
        { type: 'tool/invoked', callId: 'c', name: '__proto__', ok: true, message: 'x', durationMs: -1 },
      ].map((event) => ({ version: 1, run: '__proto__', at: 1, event })),
    )
    const odd = store.get('__proto__')
    const source = createRunSource(store, { redactor: createRedactor(createSecrets([])) })
    const range = { id: '__proto__', from: 0, count: 500 }
    expect(JSON.stringify(await source.handlers['runs/steps']?.(range))).toContain('nested too deep to show')
    expect(JSON.stringify(await source.handlers['runs/messages']?.(range))).toContain('nested too deep to show')
    expect(JSON.stringify(describeRun(odd, 0))).toContain('"id":"__proto__"')
    expect(explainOffer(odd, 1, 'toString').isOffered).toBe(false)
    const assets: Assets = new Map()
    const { parts } = exportRun(odd, { redactor: createRedactor(createSecrets([])), assets })
    expect(await readAll(parts)).toContain('too long to export')
    expect(JSON.stringify(await createAdviceSource({ runs: store }).handlers['advice/get']?.({}))).toContain('"runs":2')
  })

  it('are followed while the file grows, and survive lines that are not part of a recording', async () => {
    const path = join(folder, 'growing.jsonl')
    const start = JSON.stringify({
      version: 1,
      run: 'a',
      at: 1,
      event: { type: 'run/started', isResumed: false, input: 'é' },
    })
    writeFileSync(path, `nonsense\n{"version":2}\n\n${start.slice(0, 20)}`)
    const store = createRunStore()
    await store.follow(path)
    expect({ runs: store.runs.length, skipped: store.skipped }).toEqual({ runs: 0, skipped: 2 })
    const changed = new Promise<void>((resolve) => void store.subscribe(resolve))
    appendFileSync(path, `${start.slice(20)}\n`)
    await changed
    expect(store.runs[0]?.summary.input).toBe('é')
    store.add([
      { version: 1, run: 'a', at: 2, event: { type: 'of/later', x: 1 } },
      { version: 1, run: '__proto__', at: 2, event: null },
      null,
      [],
    ])
    expect(store.runs).toHaveLength(1)
    store.close()
  })

  it('are also shown from recordings of only numbers and names', async () => {
    const path = join(folder, 'numbers.jsonl')
    const recorder = createFileRecorder(path, { prompt: clerk })
    const adapter = scriptedAdapter([calls('read_section', { section_key: 'refunds' }), says('Done.')])
    await runAgent(clerk, { adapter, onEvent: recorder.onEvent })
    const { run } = await readRun(path)
    const view = describeRun(run, 0)
    expect(view).toMatchObject({
      prompt: 'desk/support',
      requests: 2,
      openings: 1,
      hasTexts: false,
      status: 'completed',
    })
    expect(explainOffer(run, 1, 'refund_order').reason).toContain("section 'refunds'")
    expect(() => forkRun(run, 1)).toThrow('without texts')
  })
})
