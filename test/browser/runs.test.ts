import { createWriteStream, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { runAgent, type RunState } from 'foldout'
import { recordRun } from 'foldout/node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPaidModel } from '../../examples/inspector/paid-model.ts'
import { travelDesk } from '../../examples/inspector/travel-desk.ts'
import { findBarriers } from './browser.ts'
import { isWhole, open, startInspector, takeProblems, useBrowser } from './harness.ts'
import { removeFolder } from '../remove-folder.ts'

useBrowser()

const folder = mkdtempSync(join(tmpdir(), 'foldout-browser-'))
const FILE = join(folder, 'runs.jsonl')
const HOSTILE = '<img src=x onerror="document.title=`pwned`"></script><script>alert(1)</script>'

async function run(to: string, input: string): Promise<void> {
  const adapter = createPaidModel([
    { calls: [['read_section', { section_key: 'changes' }]] },
    { calls: [['rebook_flight', { booking: 'QX4T2', flight: 'TP763', date: '2026-12-05' }]] },
    { says: `Moved. ${HOSTILE}` },
  ])
  const recorder = recordRun({ to })
  await runAgent(travelDesk, { adapter, input, onEvent: recorder.onEvent })
  await recorder.saved()
}

beforeAll(() => run(FILE, `Can I fly a day later? ${HOSTILE} sk-abcdefghijklmnopqrst`))
afterAll(() => removeFolder(folder))

describe('R59 the run view in a browser', () => {
  it('shows a recording: timeline, messages, openings, why a tool was not offered, and a fork', async () => {
    const { url } = await startInspector('inspect', FILE)
    const page = await open(url)
    await page.getByText('Opened changes').waitFor()
    expect(await page.locator('.figures').innerText()).toMatch(/Requests\s+3/)
    await page.locator('.plot canvas').waitFor()
    await page.getByRole('tab', { name: /^Messages/ }).click()
    await page.locator('.message.user').filter({ hasText: HOSTILE }).waitFor()
    await page.locator('.output').filter({ hasText: 'Moved.' }).waitFor()
    await page.getByRole('tab', { name: /^Openings/ }).click()
    await page.getByRole('rowheader', { name: 'changes' }).waitFor()
    await page.getByRole('tab', { name: /^Why not/ }).click()
    await page.getByLabel('Tool').fill('rebook_flight')
    await page.getByRole('button', { name: 'Explain' }).click()
    await page.getByText(/belongs to the section 'changes', which was folded/).waitFor()
    await page.getByRole('button', { name: 'Fork', exact: true }).click()
    await page.getByRole('button', { name: 'Copy the state' }).waitFor()
    expect(await page.evaluate('document.querySelectorAll("img").length')).toBe(0)
    expect(await page.title()).not.toContain('pwned')
  })

  it('reads a step in full and forks from its request', async () => {
    const { url } = await startInspector('inspect', FILE)
    const page = await open(url)
    const step = page.locator('.step').filter({ hasText: 'rebook_flight begins' })
    await step.click()
    await page.locator('.step-more').filter({ hasText: '"flight":"TP763"' }).waitFor()
    await page.getByRole('button', { name: 'Why not, or fork from request 2' }).click()
    await page.getByRole('heading', { name: 'Fork from request 2' }).waitFor()
    await page.getByRole('button', { name: 'Fork', exact: true }).click()
    await page.getByRole('button', { name: 'Copy the state' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const fork = JSON.parse(await page.evaluate<string>('navigator.clipboard.readText()')) as {
      state: { id: string; messages: readonly { role: string }[] }
      visibility: Readonly<Record<string, string>>
    }
    expect(fork.visibility).toMatchObject({ changes: 'full' })
    // It goes on from there, as a run of its own.
    const adapter = createPaidModel([{ says: 'From the fork.' }])
    const { text } = await runAgent(travelDesk, { adapter, ...(fork as unknown as { state: RunState }) })
    expect(text).toBe('From the fork.')
  })

  it('tells what the chart shows, and chooses the request that is clicked', async () => {
    const { url } = await startInspector('inspect', FILE)
    const page = await open(url)
    await page.getByText(/^Peak [\d,]+ tokens at request 3/).waitFor()
    await page.locator('.plot .u-over').click()
    await page.getByText(/^Request 2: [\d,]+ tokens, [\d,]+ cached/).waitFor()
    await page.getByRole('heading', { name: 'Fork from request 2' }).waitFor()
    expect(await page.evaluate('document.querySelector("#request").value')).toBe('2')
  })

  it('says so if there is no such run, and shows the others', async () => {
    const { url } = await startInspector('inspect', FILE)
    const page = await open(`${url}#/runs/another`)
    await page.getByText('This run no longer exists.').waitFor()
    await page.locator('.run-list a').first().click()
    await page.getByText('Opened changes').waitFor()
    expect(takeProblems(page)).toHaveLength(1)
  })

  it.each(['en-US@posix', 'ar-EG', 'de-DE'])('shows a run in a browser that speaks %s', async (locale) => {
    const { url } = await startInspector('inspect', FILE)
    const page = await open(url, { locale })
    await page.locator('.plot canvas').waitFor()
    expect(await page.locator('.figures').innerText()).toMatch(/Tokens in\s+[\d,]+/)
  })

  it('shows retries, cache misses and what a run was refused', async () => {
    const file = join(folder, 'rough.jsonl')
    const reply = (input: number, cached: number): object => ({
      type: 'reply/received',
      message: { text: '', toolCalls: [] },
      usage: { inputTokens: input, outputTokens: 5, cachedInputTokens: cached, cacheWriteTokens: 0 },
    })
    const sent = { type: 'request/sent', messages: 1, tools: ['work'] }
    const events = [
      {
        type: 'run/started',
        isResumed: false,
        input: 'Go.',
        model: { provider: 'acme', name: 'one', contextWindow: 2_000 },
      },
      sent,
      { type: 'request/retried', attempt: 1, delayMs: 1_500, reason: '429 Too Many Requests' },
      reply(1_000, 800),
      sent,
      reply(1_200, 0),
      { type: 'approval/asked', callId: 'c', tool: 'work', reason: 'It costs money' },
      { type: 'approval/answered', callId: 'c', tool: 'work', approved: false },
      { type: 'run/failed', errorType: 'limit-reached' },
    ]
    const lines = events.map((event, i) => JSON.stringify({ version: 1, run: 'rough', at: 1e12 + i, event }))
    writeFileSync(file, `${lines.join('\n')}\nnot a line\n`)
    const { url } = await startInspector('inspect', file)
    const page = await open(url, { height: 1_000 })
    await page.getByText('Retry 1 after 1,500 ms').waitFor()
    await page.getByText('Cache missed for 800 tokens').waitFor()
    await page.getByText('work was refused').waitFor()
    expect(await page.locator('.figures').innerText()).toMatch(/Peak context\s+1,200[^]*Retries\s+1\s+Cache misses\s+1/)
    expect(await page.locator('.step.is-reply').allInnerTexts()).toEqual([
      expect.stringMatching(/1,000[^]*5[^]*800/),
      expect.stringMatching(/1,200[^]*5[^]*0/),
    ])
    await page.getByText('1 line of the recording could not be read.').waitFor()
    const chart = page.locator('.plot')
    expect(await chart.getAttribute('aria-label')).toContain('Peak 1,200 tokens at request 2')
    expect(await page.locator('.chart figcaption').innerText()).toContain('window 2,000')
    expect(await chart.locator('canvas').isVisible()).toBe(true)
  })

  it('finds a run among many, keeps every title in view, and compares two side by side', async () => {
    const file = join(folder, 'many.jsonl')
    const tokens = { total: 1, text: 1, tools: 0 }
    const lines = Array.from({ length: 60 }, (_, i) => {
      const usage = { inputTokens: 1_000 * (i + 1), outputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0 }
      const end =
        i % 10 === 3 ? { type: 'run/failed', errorType: 'x' } : { type: 'run/finished', status: 'completed', usage }
      return [
        { type: 'run/started', isResumed: false, input: `Question ${i} about a booking that is long enough to be cut` },
        {
          type: 'prompt/rendered',
          prompt: 'examples/desk',
          text: 'Desk.',
          tools: [],
          full: [],
          summarized: [],
          tokens,
          tokensIfAllOpen: tokens,
        },
        { type: 'request/sent', messages: 1, tools: [] },
        { type: 'reply/received', message: { text: 'Done.', toolCalls: [] }, usage },
        end,
      ].map((event) => JSON.stringify({ version: 1, run: `r${i}`, at: 1_790_000_000_000 + i, event }))
    })
    writeFileSync(file, `${lines.flat().join('\n')}\n`)
    const { url } = await startInspector('inspect', file)
    for (const width of [1280, 400]) {
      // An address to a run far down the list shows where it is.
      const page = await open(`${url}#/runs/r2`, { width })
      const current = page.locator('.run-list [aria-current]')
      await current.filter({ hasText: 'Question 2 ' }).waitFor()
      const isInView = `(() => {
        const row = document.querySelector('.run-list [aria-current]')?.getBoundingClientRect()
        const rows = document.querySelector('.run-list .rows')?.getBoundingClientRect()
        return row !== undefined && row.top >= rows.top - 1 && row.bottom <= rows.bottom + 1
      })()`
      await page.waitForFunction(isInView)
      expect(await current.getAttribute('tabindex')).toBe('0')
      await page.getByLabel('Order').selectOption('peak')
      await page.waitForFunction(isInView)
      await page.getByLabel('Order').selectOption('newest')
      await page.waitForFunction(isInView)
      await page.getByRole('heading', { name: /^Question 2 about/ }).waitFor()
      const lows = await page.evaluate<readonly number[]>(
        `[...document.querySelectorAll('.run-name')].map((name) => name.getBoundingClientRect().height).filter((height) => height < 12)`,
      )
      expect(lows).toEqual([])

      await page.getByLabel('Status').selectOption('failed')
      await page.getByText('6 of 60').waitFor()
      await page.getByLabel('Order').selectOption('tokens')
      await page.waitForFunction(`document.querySelector('.run-name').textContent.startsWith('Question 53')`)
      await page.getByLabel('Search the runs').fill('question 13')
      await page.getByText('1 of 60').waitFor()
      await page.getByLabel('Search the runs').fill('nothing like this')
      await page.getByRole('button', { name: 'Show all' }).click()
      await page.waitForFunction(`document.querySelector('.run-list .count').textContent === '60'`)

      // By keyboard: choose the second run from the list.
      await page.getByRole('button', { name: 'Compare' }).press('Enter')
      await page.getByText('Choose the run to compare with.').waitFor()
      await page.getByLabel('Search the runs').fill('question 13')
      await page.locator('.run-list a').first().press('Enter')
      const compared = page.locator('.compared')
      await compared.waitFor()
      expect(await compared.innerText()).toMatch(/Tokens in\s+3,000\s+14,000\s+\+11,000/)
      expect(await page.locator('.beside .step-title').filter({ hasText: 'Started' }).count()).toBe(2)
      expect(await findBarriers(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0)
      await page.getByRole('link', { name: 'Stop comparing' }).click()
      await page.getByRole('tab', { name: /^Messages/ }).click()
      await page.locator('.message').nth(2).waitFor({ state: 'attached' })
      // Messages are drawn only when they come into view, so their order is read from the document.
      const roles = await page.evaluate(
        '[...document.querySelectorAll(".message")].map(({ classList }) => classList[1])',
      )
      expect(roles).toEqual(['system', 'user', 'assistant'])
    }
  })

  it('R60 works with the keyboard alone', async () => {
    const { url } = await startInspector('inspect', FILE)
    const page = await open(url)
    await page.getByText('Opened changes').waitFor()
    const getName = (): Promise<string> => page.evaluate('document.activeElement.textContent.trim()')
    for (let i = 0; i < 20 && !(await getName()).startsWith('Timeline'); i++) await page.keyboard.press('Tab')
    await page.keyboard.press('ArrowLeft')
    expect(await getName()).toBe('Why not, and fork')
    for (let i = 0; i < 10 && (await page.evaluate('document.activeElement.id')) !== 'why-tool'; i++)
      await page.keyboard.press('Tab')
    await page.keyboard.type('rebook_flight')
    await page.keyboard.press('Enter')
    await page.getByText(/belongs to the section 'changes', which was folded/).waitFor()
  })

  it('R60 shows a recording whose names are a megabyte long and reverse the text direction', async () => {
    const file = join(folder, 'odd.jsonl')
    const name = `\u202E${'x'.repeat(1_000_000)}`
    const usage = { inputTokens: 1e15, outputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0 }
    const tokens = { total: 1, text: 1, tools: 0 }
    const events = [
      { type: 'run/started', isResumed: false, input: name, model: { provider: name, name } },
      {
        type: 'prompt/rendered',
        prompt: name,
        text: name,
        tools: [name],
        full: [name],
        summarized: [name],
        tokens,
        tokensIfAllOpen: tokens,
      },
      { type: 'request/sent', messages: 1, tools: [name] },
      {
        type: 'reply/received',
        message: { text: name, toolCalls: [{ id: 'c', name, arguments: { [name]: name } }] },
        usage,
      },
      {
        type: 'tool/invoked',
        callId: 'c',
        name,
        ok: true,
        message: name,
        durationMs: 1,
        disclosure: { keys: [name], full: [], reason: name, answer: 'in-place' },
      },
    ]
    writeFileSync(file, events.map((event) => `${JSON.stringify({ version: 1, run: 'odd', at: 1, event })}\n`).join(''))
    const { url } = await startInspector('inspect', file)
    const page = await open(url, { width: 400 })
    for (const tab of [/^Timeline/, /^Messages/, /^Openings/, /^Why/]) {
      await page.getByRole('tab', { name: tab }).click()
      await page.locator('[role=tabpanel] > :not(.step-head)').first().waitFor()
      expect(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0)
      expect(
        await page.evaluate('document.querySelector("main").scrollWidth - document.querySelector("main").clientWidth'),
      ).toBe(0)
      expect(await page.evaluate('document.body.textContent.includes("\\u202E")')).toBe(false)
    }
  })

  it('R60 shows a recording with arguments that are nested 100,000 levels deep', async () => {
    const file = join(folder, 'deep.jsonl')
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    const lines = [
      '{"type":"run/started","isResumed":false,"input":"Go deep."}',
      '{"type":"request/sent","messages":1,"tools":["work"]}',
      `{"type":"reply/received","message":{"text":"","toolCalls":[{"id":"c","name":"work","arguments":${deep}}]},"usage":{"inputTokens":1,"outputTokens":1}}`,
    ]
    writeFileSync(file, lines.map((event) => `{"version":1,"run":"deep","at":1,"event":${event}}\n`).join(''))
    const { url } = await startInspector('inspect', file)
    const page = await open(url)
    await page.getByText('Calls work').waitFor()
    await page.getByRole('tab', { name: /^Messages/ }).click()
    await page.getByText('nested too deep to show').waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Export as HTML' }).click(),
    ])
    const saved = join(folder, 'deep.html')
    await download.saveAs(saved)
    const exported = await open(pathToFileURL(saved).href)
    await exported.getByText('Calls work').waitFor()
    expect(await exported.locator('button.step').count()).toBe(3)
  })

  it('follows runs of other processes, with nothing else to show', async () => {
    // In a folder without a configuration, it needs no arguments.
    const { url } = await startInspector('inspect')
    const page = await open(url)
    await page.getByText('No runs yet').waitFor()
    expect(await page.locator('.sample').innerText()).toContain(url)
    await run(url, 'First, live.')
    await page.locator('.run-name').filter({ hasText: 'First, live.' }).waitFor()
    await page.getByText('Opened changes').waitFor()
    await run(url, 'Second, live.')
    await page.locator('.run-name').filter({ hasText: 'Second, live.' }).waitFor()
    // A running run keeps what it shows while more comes in.
    const line = (event: object): string => JSON.stringify({ lines: [{ version: 1, run: 'slow', at: 1, event }] })
    const send = (event: object): Promise<Response> =>
      fetch(`${url}api/runs/record`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: line(event),
      })
    await send({ type: 'run/started', isResumed: false, input: 'Third, slowly.' })
    await page.getByText('Third, slowly.').first().click()
    await page.locator('.step-title').filter({ hasText: 'Started' }).waitFor()
    for (let i = 1; i <= 150; i++) await send({ type: 'warning', message: `Warning ${i}` })
    await page.getByRole('tab', { name: /^Timeline 151/ }).waitFor()
    await page.evaluate('document.querySelector(".run-pane .rows").scrollTo(0, 1e9)')
    await page.getByText('Warning 150', { exact: true }).waitFor()
  })

  it('R60 exports one redacted file that works without a server', async () => {
    const { url } = await startInspector('inspect', FILE)
    const page = await open(url)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Export as HTML' }).click(),
    ])
    expect(download.suggestedFilename()).toMatch(/^run-.*\.html$/)
    const saved = join(folder, 'exported.html')
    await download.saveAs(saved)
    const exported = await open(pathToFileURL(saved).href)
    await exported.getByText('Opened changes').waitFor()
    await exported.getByRole('tab', { name: /^Messages/ }).click()
    const said = exported.locator('.message.user').first()
    await said.waitFor()
    // Checked in the data, because messages are drawn only when they come into view.
    expect(await said.textContent()).toContain(HOSTILE)
    expect(await said.textContent()).not.toContain('sk-abcdefghijklmnopqrst')
    expect(await exported.title()).not.toContain('pwned')
  })

  it('says that the connection is lost when the stream breaks, and keeps what it shows', async () => {
    const inspector = await startInspector('inspect', FILE)
    const page = await open(inspector.url)
    const messages = page.getByRole('tab', { name: /^Messages/ })
    await messages.waitFor()
    await page.getByText('Live', { exact: true }).waitFor()
    await inspector.stop()
    await page.getByText('Connection lost, trying again').waitFor()
    await messages.click()
    await page.locator('.failure, .messages').first().waitFor()
    takeProblems(page)
    expect(await page.getByRole('heading', { name: 'Can I fly a day later?' }).count()).toBe(1)
  })

  it.runIf(isWhole)('opens a recording of 50 MB', async () => {
    const file = join(folder, 'large.jsonl')
    const stream = createWriteStream(file)
    const line = (at: number, event: object): void =>
      void stream.write(`${JSON.stringify({ version: 1, run: 'large', at, event })}\n`)
    line(0, { type: 'run/started', isResumed: false, input: 'Do a lot.' })
    const text = 'A line of a long result. '.repeat(80)
    for (let i = 1; i <= 12_000; i++) {
      line(i, { type: 'request/sent', messages: i, tools: ['work'] })
      const toolCalls = [{ id: `c${i}`, name: 'work', arguments: { i, text } }]
      const usage = { inputTokens: i, outputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0 }
      line(i, { type: 'reply/received', message: { role: 'assistant', text: '', toolCalls }, usage })
      line(i, { type: 'tool/invoked', callId: `c${i}`, name: 'work', ok: true, message: text, durationMs: 1 })
    }
    await new Promise<void>((resolve) => stream.end(resolve))
    const { url } = await startInspector('inspect', file)
    const page = await open(url)
    await page.getByRole('tab', { name: /^Timeline/ }).waitFor({ timeout: 30_000 })
    await page.getByText('Request with 1 tool').first().waitFor()
    expect(await page.locator('.step').count()).toBeLessThan(60)
    await page.evaluate('document.querySelector(".run-pane .rows").scrollTo(0, 1e9)')
    await page.getByText('#12000').first().waitFor()
    await page.getByRole('tab', { name: /^Messages/ }).click()
    await page.getByRole('button', { name: 'Later' }).click()
    await page.getByText(/101 to 200 of/).waitFor()
  })

  it.runIf(isWhole).each([
    ['light', 1280],
    ['dark', 400],
  ] as const)('R60 axe finds nothing: %s, %i px', async (colorScheme, width) => {
    const { url } = await startInspector('inspect', FILE)
    const page = await open(url, { colorScheme, width })
    await page.getByText('Opened changes').waitFor()
    for (const tab of [/^Timeline/, /^Messages/, /^Openings/, /^Why/]) {
      await page.getByRole('tab', { name: tab }).click()
      expect(await findBarriers(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0)
    }
  })

  it('says what is wrong with a file that is not a recording', async () => {
    const file = join(folder, 'not-a-recording.txt')
    writeFileSync(file, 'nothing\n')
    await expect(startInspector('inspect', file)).rejects.toThrow(/is not a recording of runs/)
  })
})
