import { once } from 'node:events'
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runAgent } from 'foldout'
import { createFileRecorder } from 'foldout/node'
import { says, scriptedAdapter } from 'foldout/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clerk } from './prompts/desk.fixtures.ts'
import { createProgram, runCommand } from './main.ts'
import type { Surroundings } from './support/surroundings.ts'
import { removeFolder } from '../remove-folder.fixtures.ts'

const SERVER = join(import.meta.dirname, '../gateway/server.fixtures.mjs')
const DESK = join(import.meta.dirname, 'prompts/desk.fixtures.ts')
const COMPARED = `${join(import.meta.dirname, 'compare/desk.fixtures.ts')}#clerk`
const TRAFFIC = '{"type":"start","version":1,"run":"a","at":"","foldout":"1"}\n'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'foldout-contract-')))
const config = join(folder, 'servers.json')
/** An HTTP server that does not require a sign-in. */
const web = createServer((_, response) => response.end('{}'))
const remote = join(folder, 'remote.json')
const traffic = join(folder, 'traffic.jsonl')
const queries = join(folder, 'queries.jsonl')
const runs = join(folder, 'runs.jsonl')
const cases = join(folder, 'cases.jsonl')
beforeAll(async () => {
  const tools = [{ name: 'refund_order', description: 'Give a customer the money back.' }]
  const shop = { command: process.execPath, args: [SERVER, JSON.stringify({ tools })] }
  writeFileSync(config, JSON.stringify({ mcpServers: { shop } }))
  await once(web.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(web.address() as AddressInfo).port}/mcp`
  writeFileSync(remote, JSON.stringify({ mcpServers: { tickets: { url } } }))
  writeFileSync(traffic, TRAFFIC)
  mkdirSync(join(folder, 'project/.cursor'), { recursive: true })
  for (const file of [broken, join(folder, 'project/.cursor/mcp.json')]) writeFileSync(file, '{ "mcpServers": \n\n')
  const recorder = createFileRecorder(runs, { prompt: clerk })
  await runAgent(clerk, { adapter: scriptedAdapter([says('Done.')]), input: 'Go.', onEvent: recorder.onEvent })
  await recorder.saved()
  writeFileSync(cases, '{"id": "1", "input": "Refund it.", "includes": "Done"}\n')
  writeFileSync(queries, '{"query": "money back", "tools": ["refund_order"]}')
})
afterAll(async () => {
  web.close()
  web.closeAllConnections()
  await removeFolder(folder)
})

interface Written {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

function createSurroundings(stream: object = {}): {
  readonly surroundings: Surroundings
  readonly written: { stdout: string; stderr: string }
} {
  const written = { stdout: '', stderr: '' }
  const open = (name: 'stdout' | 'stderr') => ({ ...stream, write: (text: string) => (written[name] += text) })
  const env = {
    HOME: folder,
    USERPROFILE: folder,
    XDG_CONFIG_HOME: join(folder, 'xdg'),
    XDG_CACHE_HOME: join(folder, 'cache'),
    XDG_DATA_HOME: join(folder, 'data'),
    PATH: '',
  }
  const signal = new AbortController().signal
  return { written, surroundings: { stdout: open('stdout'), stderr: open('stderr'), env, signal, version: '1.2.3' } }
}

async function run(args: readonly string[], stream: object = {}): Promise<Written> {
  const { written, surroundings } = createSurroundings(stream)
  const code = await runCommand(['node', 'foldout', ...args], surroundings)
  return { code, ...written }
}

const commands = createProgram(createSurroundings().surroundings, () => {}).commands
const names = commands.map((command) => command.name())
const missing = join(folder, 'not-there.json')

/** A working command line for each command, without `--json`. `serve` and `record` speak MCP on standard output. */
const working: Readonly<Record<string, readonly string[]>> = {
  call: ['refund_order', '--config', config],
  doctor: ['--config', config],
  tools: ['--config', config],
  search: ['money', '--config', config],
  import: ['--no-project', '--dry-run'],
  install: ['cursor', '--config', config, '--dry-run'],
  uninstall: ['cursor', '--dry-run'],
  add: ['files', '--config', join(folder, 'new.json'), '--no-try', '--', 'server-files'],
  remove: ['files', '--config', join(folder, 'new.json')],
  login: ['tickets', '--config', remote],
  logout: ['tickets', '--config', remote],
  approvals: [],
  audit: ['--file', traffic],
  approve: [],
  deny: [],
  pins: [],
  fleet: [],
  replay: [traffic, '--config', config],
  eval: [queries, '--config', config],
  render: [`${DESK}#clerk`],
  advise: [traffic],
  tune: [runs, '--prompt', `${DESK}#clerk`, '--dry-run'],
  simulate: [`${DESK}#clerk`],
  lint: [`${DESK}#greeter`, '--values', '{"shop": "Glow"}'],
  compare: ['plan', cases, '--prompt', COMPARED],
  completion: ['bash'],
}
const withoutJson = ['serve', 'record', 'inspect']

/** A command line for each command that reads a file, with a missing file. */
const withoutFile: Readonly<Record<string, readonly string[]>> = {
  serve: ['--config', missing],
  record: [traffic, '--config', missing],
  call: ['a', '--config', missing],
  doctor: ['--config', missing],
  tools: ['--config', missing],
  search: ['a', '--config', missing],
  add: ['a', '--from', missing],
  audit: ['--file', missing],
  login: ['a', '--config', missing],
  logout: ['a', '--config', missing],
  replay: [missing, '--config', config],
  eval: [missing, '--config', config],
  render: [missing],
  inspect: ['--config', missing],
  advise: [missing],
  tune: [missing, '--prompt', `${DESK}#clerk`],
  simulate: [missing],
  lint: [`${DESK}#clerk`, '--summaries', missing],
  compare: [missing, '--prompt', COMPARED],
}

const broken = join(folder, 'broken.json')

/** A command line for each command that reads a file, with a file that does not parse. */
const withBrokenFile: Readonly<Record<string, readonly string[]>> = {
  serve: ['--config', broken],
  call: ['a', '--config', broken],
  doctor: ['--config', broken],
  tools: ['--config', broken],
  search: ['a', '--config', broken],
  add: ['a', '--config', broken, '--no-try', '--url', 'http://127.0.0.1/mcp'],
  remove: ['a', '--config', broken],
  uninstall: ['cursor', '--project', join(folder, 'project')],
  install: ['cursor', '--project', join(folder, 'project'), '--config', config],
  login: ['a', '--config', broken],
  replay: [broken, '--config', config],
  eval: [broken, '--config', config],
  advise: [broken],
  tune: [broken, '--prompt', `${DESK}#clerk`],
  simulate: [DESK, '--steps', broken],
  lint: [`${DESK}#clerk`, '--summaries', broken],
  compare: [broken, '--prompt', COMPARED],
}

/** The mistake is on standard error for people, and on standard output for programs. */
function expectJsonError({ code, stdout, stderr }: Written, message: string): void {
  expect(stderr).toContain(message)
  expect(stdout).toMatch(/^\{[^]*\}\n$/)
  expect(JSON.parse(stdout)).toEqual({ error: { message: expect.stringContaining(message), exitCode: 2 } })
  expect(code).toBe(2)
}

describe('R58 every command', () => {
  it('is in the tables of this test', () => {
    expect([...Object.keys(working), ...withoutJson].sort()).toEqual(names.toSorted())
  })

  it.each(names)('%s --help has examples, on standard output', async (name) => {
    const { code, stdout, stderr } = await run([name, '--help'], { columns: 100 })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(new RegExp(`^Usage: foldout ${name}`))
    expect(stdout).toContain(`\nExamples:\n`)
    expect(stdout.split('\nExamples:\n')[1]).toMatch(new RegExp(`foldout ${name}`))
    const [described = ''] = stdout.split('\nExamples:\n')
    expect(described.split('\n').filter((line) => line.length > 100)).toEqual([])
  })

  it.each(names)('%s refuses options it does not have', async (name) => {
    const { code, stdout, stderr } = await run(
      [name, ...(working[name] ?? []), '--no-such-option'].filter((arg) => arg !== '--'),
    )
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    // A command in another one names its own help.
    const command = working[name]?.[0] === 'plan' ? `${name} plan` : name
    expect(stderr).toContain(
      `unknown option '--no-such-option'\n(Run foldout ${command} --help to see how to use it.)\n`,
    )
  })

  it('refers to the help of the command with the mistake, or to the list of commands', async () => {
    const { stderr } = await run(['fleet', 'approve'])
    expect(stderr).toMatch(/\n\(Run foldout fleet approve --help to see how to use it\.\)\n$/)
    for (const args of [['nothing'], ['--nothing'], ['help', 'nothing'], ['nothing', '--help']])
      expect((await run(args)).stderr).toMatch(/\n\(Run foldout --help to list the commands\.\)\n$/)
  })

  it.each(
    commands.filter(({ registeredArguments: [first] }) => first?.required === true).map((command) => command.name()),
  )('%s says which argument is missing', async (name) => {
    const { code, stdout, stderr } = await run([name])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('missing required argument')
  })

  it('R58 help --json lists the commands with their options, or one of them', async () => {
    for (const args of [
      ['help', '--json'],
      ['--help', '--json'],
      ['--json', '-h'],
    ]) {
      const { code, stdout } = await run(args)
      const { commands: listed } = JSON.parse(stdout) as { readonly commands: readonly { readonly name: string }[] }
      expect({ code, names: listed.map(({ name }) => name) }).toEqual({ code: 0, names: [...names, 'help'] })
    }
    for (const args of [
      ['help', 'tools', '--json'],
      ['tools', '--help', '--json'],
      ['help', '--json', 'tools'],
    ])
      expect(JSON.parse((await run(args)).stdout)).toMatchObject({ command: { name: 'tools' } })
    expectJsonError(await run(['help', 'nothing', '--json']), "unknown command 'nothing'")
  })

  it.each(Object.entries(withoutFile))('%s says which file is missing', async (name, args) => {
    const { code, stdout, stderr } = await run([name, ...args])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('not-there.json')
    expectJsonError(await run([name, ...args, '--json']), 'not-there.json')
  })

  it.each(Object.entries(withBrokenFile))('%s says which file is wrong', async (name, args) => {
    const { code, stdout, stderr } = await run([name, ...args])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/(?:broken|mcp)\.json/)
  })

  it.each(names)('%s --json prints its mistakes as one JSON document', async (name) => {
    const written = await run([name, '--json', '--no-such-option'])
    expect(written.code).toBe(2)
    expectJsonError(written, "unknown option '--no-such-option'")
  })

  it.each(names.map((name) => `${name}x`))('%s is not a command, also if its help is asked for', async (name) => {
    for (const args of [[name], [name, '--help'], ['help', name]]) {
      const { code, stdout, stderr } = await run(args)
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(stderr).toContain(`unknown command '${name}'`)
    }
    expectJsonError(await run([name, '--json']), `unknown command '${name}'`)
  })

  it('record has the options of serve, and its file as an argument', () => {
    const list = (name: string) =>
      commands
        .find((command) => command.name() === name)
        ?.options.map(({ flags, description }) => ({ flags, description }))
    expect(list('record')).toEqual(list('serve')?.filter(({ flags }) => flags !== '--record <file>'))
  })

  it('call says that --timeout limits the start of servers and the call', async () => {
    const { stdout } = await run(['call', '--help'], { columns: 300 })
    expect(stdout).toContain(
      '--timeout <seconds>  how long each server may take to start (default: 30), and how long the call may go without an answer or progress (default: the server’s timeoutSeconds)\n',
    )
  })

  it('takes --json after -- for an option of the server that it adds', async () => {
    const { code, stdout } = await run(['add', 'a', '--from', missing, '--', 'server', '--json'])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })

  it('quotes what a shell would fill in, so that no secret is written to a file', async () => {
    for (const name of names) {
      const [, examples = ''] = (await run([name, '--help'])).stdout.split('\nExamples:\n')
      for (const line of examples.split('\n').filter((example) => example.includes('${') && !example.includes('fpath')))
        expect(line).toMatch(/'[^']*\$\{[^']*'/)
    }
  })

  it.each(Object.entries(working))('%s --json prints one JSON document', async (name, args) => {
    const { code, stdout, stderr } = await run([name, '--json', ...args], { isTTY: true, columns: 40 })
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^[{[][^]*[}\]]\n$/)
    expect(JSON.parse(stdout)).toBeTypeOf('object')
  })

  it.each(Object.entries(working))('%s is colored on a terminal only, without NO_COLOR', async (name, args) => {
    const plain = name === 'add' ? [...args.slice(0, 2), join(folder, 'other.json'), ...args.slice(3)] : args
    const { stdout, stderr } = await run([
      name,
      ...(name === 'remove' ? ['files', '--config', join(folder, 'other.json')] : plain),
    ])
    expect(`${stdout}${stderr}`).not.toContain('\u001B')
  })
})
