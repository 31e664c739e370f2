// The gateway over HTTP in front of two MCP servers: a client sees a handful of tools, and finds and uses a hidden one.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, styleText } from 'node:util'
import { gptTokenizer } from 'foldout/gpt-tokenizer'
import { createGateway, type ExposureName, type Gateway } from 'foldout-mcp'
import { converse, type Call, type Conversation } from './home/conversation.ts'
import { contextTokens, listTokens } from './home/token-table.ts'

const usage = `npm start -- [options]

  --port <n>    listen on this port of 127.0.0.1; default: any free port
  --serve       keep serving after the demonstration, even if the output is not a terminal
  --stdio       serve the client that started this process, without a demonstration; needs npm's --silent
  --help        show this`

const question = 'Dim the lights in the living room to 30 %, and remember that Ada likes it that way.'
const home = fileURLToPath(new URL('home-server.ts', import.meta.url))
const memory = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-memory/dist/index.js'))
const folder = mkdtempSync(join(tmpdir(), 'foldout-start-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
const mcpServers = {
  home: {
    command: process.execPath,
    args: ['--import', import.meta.resolve('tsx'), home, '--stdio', '--all'],
    description: 'Lights, heating and sensors of a home',
  },
  memory: {
    command: process.execPath,
    args: [memory],
    env: { MEMORY_FILE_PATH: join(folder, 'memory.json') },
    description: 'What is known about people',
  },
}

const dim = { name: 'control_zone_lights', arguments: { zone_id: 'living-room', brightness: 30 } }
const note = {
  name: 'create_entities',
  arguments: { entities: [{ name: 'Ada', entityType: 'person', observations: ['likes the lights at 30 %'] }] },
}
const directly: readonly Call[] = [dim, note]
const bySearch: readonly Call[] = [
  { name: 'search_tools', arguments: { query: 'dim the lights in the living room' } },
  { name: 'use_tool', arguments: dim },
  { name: 'search_tools', arguments: { query: 'create an entity for a person in the knowledge graph' } },
  { name: 'use_tool', arguments: note },
]

const options = readOptions()
if (options.help) console.log(usage)
else if (options.stdio) await serveStdio()
else await serveHttp()

async function serveStdio(): Promise<void> {
  const gateway = await open('hybrid')
  const { closed } = await gateway.stdio()
  await closed
  await gateway.close()
}

async function serveHttp(): Promise<void> {
  const gateway = await open('hybrid')
  try {
    const { url } = await gateway.http({ port: options.port })
    await demonstrate(gateway, url)
    const isGoingOn = options.serve || process.stdout.isTTY
    showHowToConnect(isGoingOn ? url : undefined)
    if (isGoingOn) await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
  } finally {
    await gateway.close()
  }
}

async function open(expose: ExposureName): Promise<Gateway> {
  const gateway = await createGateway({ mcpServers, expose }, { cache: join(folder, 'cache') })
  await gateway.ready()
  return gateway
}

async function demonstrate(gateway: Gateway, url: string): Promise<void> {
  const counter = await gptTokenizer()
  const count = (text: string): string => faint(`${counter.count(text)} tokens`)
  title(`The gateway serves at ${url}`)
  for (const { name, tools, state } of gateway.servers) console.log(`${name.padEnd(8)} ${tools} tools, ${state.type}`)
  const folded = await converse(url, bySearch, {
    opened({ tools }) {
      title('What a client sees')
      for (const { name, description, inputSchema } of tools)
        console.log(`${name.padEnd(14)} ${count(JSON.stringify({ name, description, inputSchema }))}`)
      title(`The user: ${question}`)
    },
    exchanged({ call, answer }) {
      console.log(`${strong(`→ ${call.name}`)} ${JSON.stringify(call.arguments)}`)
      console.log(`${answer.replaceAll(/^/gm, '  ')} ${count(answer)}\n`)
    },
  })
  assert(!folded.tools.some(({ name }) => name === dim.name), 'the tool is hidden')
  assert.match(folded.exchanges[0]!.answer, /^control_zone_lights\(/m, 'and it is found')
  assert.match(folded.exchanges[1]!.answer, /^Set 2 of 2 in Living room/)
  assert.match(folded.exchanges[2]!.answer, /^create_entities\(/m)
  assert.match(folded.exchanges[3]!.answer, /Ada/)
  console.log('The model: Done, and noted for Ada.')

  const everything = await open('all')
  const compared = await converse((await everything.http()).url, directly)
  await everything.close()
  title('What it saved')
  const measure = (of: (conversation: Conversation) => number): { before: number; after: number } => ({
    before: of(compared),
    after: of(folded),
  })
  const rows = {
    'tools/list': measure(({ tools }) => listTokens(tools, counter)),
    'the whole conversation': measure((all) => contextTokens(all, counter)),
  }
  console.log(`${'tokens'.padEnd(24)}   everything   gateway   saved`)
  for (const [label, { before, after }] of Object.entries(rows)) {
    assert(after < before)
    const saved = `${Math.round((1 - after / before) * 100)} %`
    console.log(`${label.padEnd(24)}${figure(before).padStart(13)}${figure(after).padStart(10)}${saved.padStart(8)}`)
  }
  console.log(faint(`counted by ${counter.name}`))
}

/** @param url Where the gateway goes on serving. */
function showHowToConnect(url: string | undefined): void {
  if (url === undefined) title('How to connect a client')
  else {
    title(`Still serving at ${url} until you press Ctrl-C`)
    console.log('For a client that connects to servers over HTTP:\n')
    console.log(`${JSON.stringify({ mcpServers: { foldout: { type: 'http', url } } }, undefined, 2)}\n`)
  }
  console.log('For a client that starts servers itself, in front of the servers that you have:\n')
  const args = ['-y', 'foldout-mcp', 'serve', '--config', '/path/to/your/mcp.json']
  console.log(JSON.stringify({ mcpServers: { foldout: { command: 'npx', args } } }, undefined, 2))
  if (url === undefined) console.log('\nTo keep these two servers running over HTTP: npm start -- --serve')
}

interface Options {
  readonly help: boolean
  readonly port: number
  readonly serve: boolean
  readonly stdio: boolean
}

function readOptions(): Options {
  try {
    const { values } = parseArgs({
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        port: { type: 'string', default: '0' },
        serve: { type: 'boolean', default: false },
        stdio: { type: 'boolean', default: false },
      },
    })
    const port = Number(values.port)
    if (!/^\d+$/.test(values.port) || port > 65_535) throw new Error(`'${values.port}' is not a port.`)
    return { ...values, port }
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`)
    return process.exit(2)
  }
}

function figure(count: number): string {
  return count.toLocaleString('en')
}

function title(text: string): void {
  console.log(`\n${strong(`━━ ${text} ━━`)}\n`)
}

function strong(text: string): string {
  return hasColors() ? styleText('bold', text) : text
}

function faint(text: string): string {
  return hasColors() ? styleText('dim', text) : `(${text})`
}

function hasColors(): boolean {
  return process.stdout.isTTY && !process.env['NO_COLOR']
}
