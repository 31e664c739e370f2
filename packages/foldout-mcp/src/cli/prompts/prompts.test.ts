import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runAgent } from 'foldout'
import { createFileRecorder, createOverrideStore, recordRun } from 'foldout/node'
import { calls, says, scriptedAdapter } from 'foldout/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readGatewayConfig } from '../../gateway/config/read-config.ts'
import { runCommand } from '../main.ts'
import { clerk, greeter, support } from './desk.fixtures.ts'
import { desks, office } from './desks.fixtures.ts'
import { removeFolder } from '../../remove-folder.fixtures.ts'

const DESK = join(import.meta.dirname, 'desk.fixtures.ts')

let folder: string
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'foldout-prompts-')))
})
afterAll(() => removeFolder(folder))

async function run(...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  let [stdout, stderr] = ['', '']
  const code = await runCommand(['node', 'foldout', ...args], {
    stdout: { write: (text) => (stdout += text) },
    stderr: { write: (text) => (stderr += text) },
    env: {},
    signal: new AbortController().signal,
    version: '1.2.3',
  })
  return { code, stdout, stderr }
}

function write(name: string, text: string): string {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

describe('R58 foldout render', () => {
  it('shows the text and the tree of the only bound prompt, before and after openings', async () => {
    const { code, stdout } = await run('render', DESK, '--open', 'refunds.vouchers')
    expect(code).toBe(0)
    const [before = '', after = ''] = stdout.split('━━ desk/support after opening refunds.vouchers ━━')
    expect(before).toContain('You answer customers of Lampworks.')
    expect(before).not.toContain('Do not ask why')
    expect(before).toMatch(/^2 refunds +\d+ {2}\S+ +folded; \d+ when open$/m)
    expect(after).toContain('Do not ask why')
    expect(after).toContain('A voucher is refunded as a voucher.')
    expect(after).toMatch(/^ {2}2\.1 refunds\.vouchers +\d+ {2}\S+ +open$/m)
    expect(after).toMatch(/open; tools: refund_order$/m)
    expect(after).toMatch(/, strategy read-section$/m)
  })

  it('prints everything as JSON, with another strategy', async () => {
    const { stdout } = await run(
      'render',
      `${DESK}#clerk`,
      '--open',
      'refunds',
      '--strategy',
      'open-sections',
      '--json',
    )
    expect(JSON.parse(stdout)).toMatchObject({
      prompt: 'desk/support',
      opened: ['refunds'],
      before: {
        strategy: 'open-sections',
        tools: ['open_sections'],
        sections: [{ path: 'role' }, { path: 'refunds' }],
      },
      after: { tools: expect.arrayContaining(['refund_order']) },
    })
  })

  it('binds values', async () => {
    expect((await run('render', `${DESK}#support`, '--values', '{"shop": "Glow"}')).stdout).toContain(
      'customers of Glow',
    )
    expect((await run('render', DESK, '--values', '{"shop": "Glow"}')).stdout).toContain('customers of Glow')
  })

  it.each([
    [[`${DESK}#support`], /the value 'shop' is missing.* --values/],
    [[`${DESK}#nothing`], /has no prompt 'nothing'. Its prompts are: clerk, greeter, support/],
    [[DESK, '--open', 'refund'], /Unknown section 'refund'. Choose from: role, refunds, refunds\.vouchers/],
    [[DESK, '--open', '__proto__'], /Unknown section '__proto__'/],
    [[DESK, '--values', '[]'], /--values must be a JSON object/],
    [[DESK, '--strategy', 'none'], /Allowed choices are read-section/],
    [['/not/there.ts'], /There is no file \/not\/there\.ts/],
    [[import.meta.dirname], /is a folder, not a file\.\n$/],
  ])('refuses %j', async (args, message) => {
    const { code, stdout, stderr } = await run('render', ...args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(message)
  })

  it('says what is wrong with a module', async () => {
    expect((await run('render', write('broken.ts', 'export default {{'))).stderr).toMatch(
      /broken\.ts cannot be loaded\. Line 1: Unexpected token\.\n$/,
    )
    expect((await run('render', write('throws.mjs', '\nthrow new Error("no")'))).stderr).toMatch(
      /throws\.mjs cannot be loaded\. Line 2: no\.\n$/,
    )
    expect((await run('render', write('empty.mjs', 'export const a = 1'))).stderr).toMatch(/exports no prompt/)
  })
})

interface SimulatedTokens {
  readonly billedTokens: number
  readonly outputTokens: number
  readonly usd?: { readonly cold: number }
}

/** Runs in which the model opens a section and calls its tool. */
async function recordRuns(count: number): Promise<string> {
  const file = join(folder, `runs-${count}.jsonl`)
  for (let i = 0; i < count; i++) {
    const recorder = createFileRecorder(file, { prompt: clerk })
    const adapter = scriptedAdapter([
      calls('read_section', { section_key: 'refunds' }),
      calls('refund_order', { order: 'A-1' }),
      says('Done.'),
    ])
    await runAgent(clerk, { adapter, input: 'I want my money back.', onEvent: recorder.onEvent })
    await recorder.saved()
  }
  return file
}

describe('R58 foldout advise', () => {
  it('gives the advice of the library', async () => {
    const runs = await recordRuns(4)
    const { code, stdout } = await run('advise', runs, '--prompt', DESK)
    expect(code).toBe(0)
    expect(stdout).toMatch(/Folding costs more than it saves|Show section 'refunds' in full/)
    const json = JSON.parse((await run('advise', runs, '--prompt', DESK, '--json')).stdout) as object
    expect(json).toMatchObject({ runs: 4, advice: [{ runs: 4, used: 4 }] })
    expect((await run('advise', runs, '--prompt', DESK, '--min-runs', '9')).stdout).toMatch(
      /^Nothing to change, after 4/,
    )
  })

  it.each([
    [['/not/there.jsonl'], /There is no file/],
    [[DESK], /^Line 1 of '.*' cannot be read. It is not valid JSON: /],
    [[import.meta.dirname], /is a folder, not a file\./],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await run('advise', ...args, '--prompt', DESK)
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
  })
})

describe('R79 foldout tune', () => {
  it('says what each way costs, writes the cheapest as overrides, and is undone by deleting the file', async () => {
    const runs = await recordRuns(12)
    const root = join(folder, 'tuned')
    const args = ['tune', runs, '--prompt', DESK, '--root', root]
    const dry = await run(...args, '--dry-run')
    expect(dry.stdout).toMatch(/^12 runs\. What each way to fold costs:\n {2}way +tokens a run\n {2}as it is/)
    expect(dry.stdout).toMatch(/refunds: open/)
    expect(dry.stdout).toMatch(
      /'all open' saves [\d,]+ tokens a run \(\d+ %; between [\d,]+ and [\d,]+ with 95 % confidence\)/,
    )
    expect(dry.stdout).toContain('Nothing was written, because of --dry-run.')
    expect(existsSync(root)).toBe(false)
    const done = JSON.parse((await run(...args, '--json')).stdout) as {
      written: string
      changes: object
      saved: object
    }
    expect(done).toMatchObject({ changes: { refunds: 'full' }, saved: { mean: expect.any(Number) } })
    const found = await createOverrideStore({ root }).resolve(support, { tag: 'tuned' })
    expect(found?.ignored).toEqual([])
    expect(clerk.render({ overrides: found!.overrides }).summarized).not.toContain('refunds')
    rmSync(done.written)
    expect(await createOverrideStore({ root }).resolve(support, { tag: 'tuned' })).toBeUndefined()
  })

  it('opens ahead if that is cheapest for what users said, which events have', async () => {
    const file = join(folder, 'said.jsonl')
    for (let i = 0; i < 12; i++) {
      const [key, input] = i % 4 < 2 ? ['parcels', 'My parcel is lost.'] : ['invoices', 'The invoice is wrong.']
      const recorder = recordRun({ to: file })
      const use = calls(`handle_${key}`, { order: '17' })
      const script = [calls('read_section', { section_key: key }), use, use, use, says('Done.')]
      await runAgent(desks, { adapter: scriptedAdapter(script), input, onEvent: recorder.onEvent })
      await recorder.saved()
    }
    const root = join(folder, 'ahead')
    const args = ['tune', file, '--prompt', `${join(import.meta.dirname, 'desks.fixtures.ts')}#desks`, '--root', root]
    const price = ['--model', 'claude-sonnet-5-5', '--per-hour', '400']
    const { stdout } = await run(...args, ...price, '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      runs: 12,
      name: 'as it is and ahead',
      ahead: true,
      changes: {},
      written: expect.stringMatching(/desks[\\/]tuned\.json$/),
    })
    expect((await run(...args, ...price)).stdout).toContain('the section that fits the input best: open ahead')
    const found = await createOverrideStore({ root }).resolve(desks.prompt, { tag: 'tuned' })
    const adapter = scriptedAdapter([says('Found.')])
    await runAgent(desks, { adapter, input: 'My parcel is lost.', overrides: found!.overrides, perHour: 0 })
    expect(adapter.requests[0]?.tools).toContain('handle_parcels')
    const torn = write('torn.jsonl', '{"version":1,"run":"a","at":1,"event":{"type":"run/started"}}\n{"event":[[[\n')
    expect((await run('tune', torn, '--prompt', DESK)).stderr).toMatch(/has no run of the prompt desk\/support/)
  })

  it('lists core tools of a catalog, which one file has and undoes', async () => {
    const file = join(folder, 'catalog.jsonl')
    const search = calls('search_tools', { query: 'send mail' })
    const mail = calls('use_tool', { name: 'send_mail', arguments: { order: '17' } })
    for (let i = 0; i < 12; i++) {
      const recorder = recordRun({ to: file })
      const adapter = scriptedAdapter([search, mail, mail, says('Done.')])
      await runAgent(office, { adapter, input: 'Mail them.', onEvent: recorder.onEvent })
      await recorder.saved()
    }
    const root = join(folder, 'core')
    const module = `${join(import.meta.dirname, 'desks.fixtures.ts')}#office`
    const { stdout } = await run('tune', file, '--prompt', module, '--root', root)
    expect(stdout).toContain('  send_mail: listed from the start\n')
    const found = await createOverrideStore({ root }).resolve(office.prompt, { tag: 'tuned' })
    expect(found?.ignored).toEqual([])
    const listed = office.render({ overrides: found!.overrides }).tools.map(({ name }) => name)
    expect(listed).toEqual(['search_tools', 'use_tool', 'send_mail'])
  })

  it('lists tools of gateway traffic in a file beside the configuration, which deleting it undoes', async () => {
    const at = '2026-11-01T00:00:00.000Z'
    const lines: object[] = [{ type: 'start', version: 1, run: 'r', at, foldout: '1.0.0' }]
    for (let client = 0; client < 6; client++) {
      const common = { run: 'r', at, preset: 'default', client: `c${client}` }
      lines.push({ type: 'search', ...common, query: 'mail', isRedacted: false, hits: ['post/mail'], tokens: 300 })
      const call = {
        tool: 'post/mail',
        through: 'use_tool',
        arguments: {},
        isRedacted: false,
        isReadOnly: false,
        ok: true,
      }
      for (let use = 0; use < 3; use++)
        lines.push({ type: 'call', ...common, ...call, durationMs: 1, wrappingTokens: 12, toolTokens: 80 })
    }
    const traffic = write('traffic.jsonl', lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    const config = write('servers.json', JSON.stringify({ mcpServers: { post: { command: 'post' } } }))
    const tuned = join(folder, 'foldout.tuned.json')
    const { stdout } = await run('tune', traffic, '--config', config, '--dry-run')
    expect(stdout).toContain('List post/mail from the start')
    expect(stdout).toMatch(/On clients it was not learned from, a core saves [1-9]\d* tokens a client \(between/)
    expect(stdout).toContain('Nothing was written, because of --dry-run.')
    expect(existsSync(tuned)).toBe(false)
    const done = await run('tune', traffic, '--config', config, '--json')
    expect(JSON.parse(done.stdout)).toMatchObject({ core: ['post/mail'], written: tuned })
    const readCore = async () => (await readGatewayConfig([config])).servers[0]!.overrides.get('mail')?.core
    expect(await readCore()).toBe(true)
    write(
      'servers.json',
      JSON.stringify({ mcpServers: { post: { command: 'post', tools: { mail: { core: false } } } } }),
    )
    expect(await readCore()).toBe(false)
    write('servers.json', JSON.stringify({ mcpServers: { post: { command: 'post', tools: { x: { name: 'mail' } } } } }))
    expect((await readGatewayConfig([config])).servers[0]!.overrides.get('x')).toEqual({ name: 'mail', core: true })
    write('foldout.tuned.json', '{"core":[1]}')
    await expect(readCore()).rejects.toThrow(/is not what foldout tune writes.* Fix or delete it\./)
    rmSync(tuned)
    expect((await readGatewayConfig([config])).servers[0]!.overrides.get('x')).toEqual({ name: 'mail' })
  })

  it('changes nothing with few runs, and refuses a recording without any', async () => {
    const few = await run('tune', await recordRuns(5), '--prompt', DESK)
    expect(few.stdout).toContain('Nothing to change: no other way costs less')
    const none = write('no-runs.jsonl', '{"version":1,"runs":[]}\n')
    expect((await run('tune', none, '--prompt', DESK)).stderr).toMatch(/has no run of the prompt desk\/support/)
    expect((await run('tune', none)).stderr).toMatch(/Name the recorded prompt with --prompt/)
  })
})

describe('R80 foldout lint', () => {
  const cases = [
    { id: '1', input: 'I want my money back', needs: ['refunds'] },
    { id: '2', input: 'Give me the money back', calls: [{ name: 'refund_order' }] },
    { id: '3', turns: ['Hello!', 'Money back, please.'], needs: ['refunds'] },
    { id: '4', input: 'What is a voucher?', needs: ['refunds.vouchers'] },
  ]
  const toLines = (list: readonly object[]): string => list.map((each) => `${JSON.stringify(each)}\n`).join('')

  it('names the summaries and the descriptions of tools that miss what people say, with their words', async () => {
    const file = write('cases.jsonl', toLines(cases))
    const { code, stdout } = await run('lint', DESK, '--summaries', file)
    expect(code).toBe(1)
    expect(stdout).toContain(
      'The summary of refunds shares no word with 3 of 3 requests that needed it. They say: back, money.',
    )
    expect(stdout).toContain('The description of the tool refund_order shares no word with 1 of 1 requests')
    expect(stdout).not.toContain('The summary of refunds.vouchers')
    const json = JSON.parse((await run('lint', DESK, '--summaries', file, '--json')).stdout) as object
    expect(json).toMatchObject({ requests: 4, summaries: [{ name: 'refunds', missed: 3 }], folds: expect.any(Array) })
  })

  it('reads runs with texts: a run needed what its model opened, and what it called with success', async () => {
    const file = join(folder, 'texts.jsonl')
    const recorder = recordRun({ to: file })
    const script = [
      calls('read_section', { section_key: 'refunds' }),
      calls('refund_order', { order: 'A-1' }),
      says('Done.'),
    ]
    for (const input of ['I want my money back.', 'Money for A-17!'])
      await runAgent(clerk, { adapter: scriptedAdapter(script), input, onEvent: recorder.onEvent })
    await recorder.saved()
    const { stdout } = await run('lint', DESK, '--summaries', file)
    expect(stdout).toContain(
      'The summary of refunds shares no word with 2 of 2 requests that needed it. They say: money.',
    )
    expect(stdout).toContain('The description of the tool refund_order shares no word with 2 of 2 requests')
  })

  it('finds folds that do not pay without any requests, and nothing in a prompt that is fine', async () => {
    const { code, stdout } = await run('lint', DESK)
    expect(code).toBe(1)
    expect(stdout).toContain('Folding costs more than it saves here')
    expect(await run('lint', `${DESK}#${greeter.key}`, '--values', '{"shop": "Glow"}')).toMatchObject({
      code: 0,
      stdout: 'Nothing to change.\n',
    })
  })

  it.each([
    ['numbers.jsonl', () => toLines([{ version: 1, runs: [] }]), /Line 1 of .* is not a case|has no cases and no runs/],
    ['broken.jsonl', () => '{"id": "1"', /Line 1 of .*broken\.jsonl is not a case: /],
    ['wrong.jsonl', () => toLines([cases[0]!, { id: '2', input: 17 }]), /Line 2 of .* is not a case: "input" must be/],
    ['deep.jsonl', () => `${'['.repeat(100_000)}${']'.repeat(100_000)}\n`, /Line 1 of .* is not a case/],
    ['proto.jsonl', () => '{"id": "1", "__proto__": {"input": "x"}, "needs": "all"}\n', /"needs" must be/],
    ['empty.jsonl', () => '', /has no cases and no runs\. Pass cases, such as/],
  ])('refuses the file %s', async (name, getText, message) => {
    const { code, stderr } = await run('lint', DESK, '--summaries', write(name, getText()))
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
  })

  it('says that runs were recorded without texts', async () => {
    const { stderr } = await run('lint', DESK, '--summaries', await recordRuns(3))
    expect(stderr).toMatch(/was recorded without texts\. Record runs with recordRun\(\)/)
  })
})

describe('R58 foldout simulate', () => {
  it('compares strategies on recorded runs, on steps and on openings', async () => {
    const runs = await recordRuns(2)
    const { code, stdout } = await run('simulate', DESK, '--recording', runs, '--cache', 'anthropic', '--json')
    expect(code).toBe(0)
    const result = JSON.parse(stdout) as {
      strategies: readonly { strategy: string; requests: number; problem?: string }[]
    }
    expect(result).toMatchObject({ prompt: 'desk/support', runs: 2, cache: 'anthropic' })
    expect(result.strategies.map(({ strategy, requests }) => [strategy, requests])).toEqual([
      ['read-section', 6],
      ['open-sections', 6],
      ['open-or-read', 6],
      ['context-files', 0],
      ['everything-in-full', 4],
    ])
    expect(result.strategies[3]?.problem).toMatch(/the prompt has no tool 'read_file'/)
    const steps = write('steps.json', '[{"opens": ["refunds"]}, {"answers": 100}]')
    const [given, opened] = await Promise.all([
      run('simulate', DESK, '--steps', steps, '--strategy', 'read-section'),
      run('simulate', DESK, '--open', 'refunds', '--strategy', 'read-section'),
    ])
    expect(given.stdout).toMatch(/^read-section +2 +0 +[\d,]+ +[\d,]+ +[\d,]+ +[\d,]+ {2}█+/m)
    expect(given.stdout).toBe(opened.stdout)
  })

  it('R78 prints what it assumes, and the cost cold, warm and at a number of conversations an hour', async () => {
    const { stdout } = await run('simulate', DESK, '--model', 'gpt-5', '--per-hour', '40')
    expect(stdout).toMatch(/^strategy +requests +restarts +input +output +billed cold +warm +40 an hour/m)
    expect(stdout).toContain('The model opens every folded section in one reply, and then answers.')
    expect(stdout).toContain('The cache holds steps of 128 tokens of requests of 1024 tokens or more, for 5 minutes.')
    expect(stdout).toContain('40 conversations an hour begin alike, so 96 % of them find their beginning in the cache.')
    expect(await run('simulate', DESK, '--model', 'nobody-1')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/The cache of the model 'nobody-1' is not known\. Use --cache instead\./),
    })
  })

  it('R77 prints dollars at the prices of a file or of the option, in every command', async () => {
    const prices = write('prices.json', '{"input": 3, "output": 15, "read": 0.3, "write": 3.75}')
    const json = async (...args: readonly string[]): Promise<unknown> =>
      JSON.parse((await run('simulate', DESK, ...args, '--json')).stdout)
    const inTokens = (await json('--cache', 'anthropic')) as { strategies: readonly SimulatedTokens[] }
    const inUsd = (await json('--prices', prices)) as { strategies: readonly SimulatedTokens[] }
    for (const [at, { billedTokens, outputTokens, usd }] of inUsd.strategies.entries()) {
      expect(billedTokens).toBe(inTokens.strategies[at]?.billedTokens)
      expect(usd?.cold ?? 0).toBeCloseTo((3 * billedTokens + 15 * outputTokens) / 1e6, 10)
    }
    const { stdout } = await run('simulate', DESK, '--prices', prices, '--per-hour', '40')
    expect(stdout).toMatch(/^strategy +requests +restarts +input +output +dollars cold +warm +40 an hour/m)
    expect(stdout).toMatch(/^read-section +.* \$0\.00\d+ +\$0\.00\d+ +\$0\.00\d+/m)
    expect(stdout).toContain('Reading costs 0.1 and writing 1.25 times the price of input.')
    expect(stdout).toContain('The output costs 5 times as much as the input.')

    const runs = await recordRuns(12)
    const tuned = await run('tune', runs, '--prompt', DESK, '--prices', prices, '--dry-run')
    expect(tuned.stdout).toMatch(/way +tokens a run +dollars\n {2}as it is +[\d,]+ +\$0\.0/)
    expect(tuned.stdout).toMatch(/saves [\d,]+ tokens a run, \$0\.0\d+ \(/)
    const advice = await run('advise', runs, '--prompt', DESK, '--prices', '{"input": 3, "output": 15}')
    expect(advice.stdout).toMatch(
      /40 conversations an hour; reads at 1, writes at 1\), it saves [\d,]+ tokens.* \(\$0\.\d+\)\./,
    )
    expect((await run('advise', runs, '--prompt', DESK)).stdout).toContain('40 conversations an hour')
  })

  it.each([
    ['{"input": 3}', /--prices has no prices in dollars for a million tokens, such as .*: "output"/],
    ['{"input": 0, "output": 1}', /"input" must be more than 0/],
    ['{"input": 3, "output": -1}', /"output" must be/],
    ['{"input": 3, "output": 15, "cheap": 1}', /cheap/],
    ['{"__proto__": 3}', /--prices has no prices/],
    ['{', /--prices has no prices/],
    ['/not/there.json', /There is no file \/not\/there\.json/],
  ])('R77 refuses the prices %s', async (prices, message) => {
    const { code, stderr } = await run('simulate', DESK, '--prices', prices)
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
  })

  it('refuses invalid steps, two sources of steps, and runs of another prompt', async () => {
    const wrong = write('wrong.json', '[{"open": ["refunds"]}]')
    expect(await run('simulate', DESK, '--steps', wrong)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/is not a list of steps/),
    })
    expect((await run('simulate', DESK, '--steps', wrong, '--open', 'role')).stderr).toMatch(
      /Use exactly one of --open, --steps/,
    )
    const none = write('none.jsonl', '{"version":1,"runs":[]}\n')
    expect((await run('simulate', DESK, '--recording', none)).stderr).toMatch(/has no run of the prompt desk\/support/)
  })

  it('says that a recording is empty', async () => {
    const file = write('empty.jsonl', '')
    expect(await run('advise', file, '--prompt', DESK)).toEqual({
      code: 2,
      stdout: '',
      stderr: `${file} has no run of the prompt desk/support.\n`,
    })
  })

  it('refuses to open a section that does not exist', async () => {
    const choice = 'Choose from: role, refunds, refunds.vouchers.'
    expect(await run('simulate', DESK, '--open', 'nothing')).toEqual({
      code: 2,
      stdout: '',
      stderr: `Unknown section 'nothing'. ${choice}\n`,
    })
    const steps = write('steps.json', '[{"opens": ["refund"]}, {"answers": 80}]')
    expect(await run('simulate', DESK, '--steps', steps)).toEqual({
      code: 2,
      stdout: '',
      stderr: `${steps} opens an unknown section 'refund'. ${choice}\n`,
    })
  })

  it.each(['--steps', '--recording'])('says that the file of %s is missing', async (option) => {
    const file = join(folder, 'not-there.json')
    expect(await run('simulate', DESK, option, file)).toEqual({
      code: 2,
      stdout: '',
      stderr: `There is no file ${file}.\n`,
    })
  })
})
