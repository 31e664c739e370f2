// A home with fourteen tools, served over MCP: six are listed, and a scripted model finds and uses one of the others.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { parseArgs, styleText } from 'node:util'
import { gptTokenizer } from 'foldout/gpt-tokenizer'
import { bySearch, converse, directly, legacyOpening, question } from './home/conversation.ts'
import type { Home } from './home/home.ts'
import { homeServer } from './home/server.ts'
import { tableText, tokenTable } from './home/token-table.ts'

const usage = `npx tsx examples/home-server.ts [options]

  --all         list all fourteen tools, for clients that expect them
  --port <n>    listen on this port of 127.0.0.1; default: any free port
  --serve       keep serving after the demonstration, even if the output is not a terminal
  --stdio       serve the client that started this process, without a demonstration;
                needs npm's --silent, because npm prints a banner to standard output
  --help        show this`

const options = readOptions()
if (options.help) console.log(usage)
else if (options.stdio) await serveStdio()
else await serveHttp()

async function serveStdio(): Promise<void> {
  if (hasNpmBanner())
    console.error('npm has printed a banner to standard output, which is not MCP. Use: npm start --silent -- --stdio')
  const { home, served } = homeServer({ everything: options.all })
  letTimePass(home)
  const { closed } = await served.stdio()
  await closed
}

async function serveHttp(): Promise<void> {
  const { home, served } = homeServer({ everything: options.all })
  const { url } = await served.http({ port: options.port }).catch((error: Error) => refuse(error.message, 1))
  await demonstrate(url, home)
  if (options.serve || process.stdout.isTTY) {
    showHowToConnect(url)
    letTimePass(home)
    await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
  }
  await served.close()
}

async function demonstrate(url: string, home: Home): Promise<void> {
  const counter = await gptTokenizer()
  const count = (text: string): string => faint(`${counter.count(text)} tokens`)
  const lights = ['light-living-ceiling', 'light-living-floor']
  const brightness = (): unknown[] => lights.map((id) => home.device(id)!.state['dim'])
  assert.deepEqual(brightness(), [1, 0.6])

  title(`The home is served at ${url}`)
  const shown = await converse(url, options.all ? directly : bySearch, {
    opened({ era, instructions, tools }) {
      console.log(`A client has connected: ${era}.`)
      if (instructions) console.log(`Its instructions: ${instructions} ${count(instructions)}`)
      title('tools/list')
      for (const { name, description, inputSchema } of tools)
        console.log(`${name.padEnd(24)} ${count(JSON.stringify({ name, description, inputSchema }))}`)
      title(`The user: ${question}`)
    },
    exchanged({ call, answer }) {
      console.log(`${strong(`→ ${call.name}`)} ${JSON.stringify(call.arguments)} ${count(JSON.stringify(call))}`)
      console.log(`${answer.replaceAll(/^/gm, '  ')} ${count(answer)}\n`)
    },
  })
  assert.deepEqual(brightness(), [0.3, 0.3], 'the home itself has changed')
  assert.match(shown.exchanges.at(-1)!.answer, /light-living-floor "Floor lamp": on, dim 0\.3/)
  console.log('The model: Done, the ceiling light and the floor lamp are at 30 %.')

  const earlier = await legacyOpening(url)
  assert.deepEqual(earlier.tools, shown.tools)
  title('What it cost')
  console.log(`A client of the ${earlier.era}, sees the same ${earlier.tools.length} tools.\n`)

  const other = homeServer({ everything: !options.all })
  const { url: otherUrl } = await other.served.http()
  const compared = await converse(otherUrl, options.all ? bySearch : directly)
  await other.served.close()
  const [everything, hybrid] = options.all ? [shown, compared] : [compared, shown]
  assert.deepEqual([everything.tools.length, hybrid.tools.length], [14, 6])
  const found = hybrid.exchanges.find(({ call }) => call.name === 'search_tools')!.answer
  assert.match(found, /^control_zone_lights\(/m, 'the hidden tool was found')
  assert(!hybrid.tools.some(({ name }) => name === 'control_zone_lights'), 'and it was hidden')
  const rows = tokenTable({ everything, hybrid }, counter)
  console.log(tableText(rows))
  console.log(faint(`counted by ${counter.name}`))
  assert(rows[1]!.saved >= 60, 'what a model reads at first is at least 60 % smaller')
  assert(rows.every(({ saved }) => saved > 0))
}

function showHowToConnect(url: string): void {
  const tsx = fileURLToPath(import.meta.resolve('tsx/cli'))
  const args = [tsx, fileURLToPath(import.meta.url), '--stdio', ...(options.all ? ['--all'] : [])]
  title(`Still serving at ${url} until you press Ctrl-C`)
  console.log('For a client that connects to servers over HTTP:\n')
  console.log(JSON.stringify({ mcpServers: { home: { type: 'http', url } } }, undefined, 2))
  console.log('\nFor one that starts servers itself:\n')
  console.log(JSON.stringify({ mcpServers: { home: { command: process.execPath, args } } }, undefined, 2))
}

/** Whether npm started this process without --silent. */
function hasNpmBanner(): boolean {
  return process.env['npm_lifecycle_event'] === 'start' && process.env['npm_config_loglevel'] !== 'silent'
}

/** Advances the home's clock in real time. */
function letTimePass(home: Home): void {
  setInterval(() => home.advance(1), 60_000).unref()
}

interface Options {
  readonly all: boolean
  readonly help: boolean
  readonly port: number
  readonly serve: boolean
  readonly stdio: boolean
}

function readOptions(): Options {
  try {
    const { values } = parseArgs({
      options: {
        all: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
        port: { type: 'string', default: '0' },
        serve: { type: 'boolean', default: false },
        stdio: { type: 'boolean', default: false },
      },
    })
    const port = Number(values.port)
    if (values.stdio && (values.serve || values.port !== '0')) throw new Error('--stdio has no port and always serves.')
    if (!/^\d+$/.test(values.port) || port > 65_535) throw new Error(`'${values.port}' is not a port.`)
    return { ...values, port }
  } catch (error) {
    return refuse(`${(error as Error).message}\n\n${usage}`, 2)
  }
}

function refuse(message: string, code: number): never {
  console.error(message)
  process.exit(code)
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
