import { Option, type Command } from 'commander'
import type { ExposureName } from '../../gateway/config/definition.ts'
import { DEFAULT_TIMEOUT_MS } from '../../gateway/upstreams/limits.ts'
import type { CallOptions } from './call.ts'
import { addServerOptions, formatExamples, readCount, readPort, type AddCommands } from '../support/options.ts'
import type { SearchCommandOptions } from './search.ts'
import type { ServeOptions } from './serve.ts'
import type { ServerOptions } from '../support/session.ts'

const NO_ENCODER = 'search by words alone, even if the sentence encoder is installed'

const EXPOSURES = ['auto', 'all', 'hybrid', 'meta-tool', 'two-phase', 'code'] satisfies readonly ExposureName[]

/** Adds the commands that connect to servers: serve, tools, search, call and doctor. */
export const addGatewayCommands: AddCommands = (program, surroundings, finish) => {
  addServe(program, surroundings, finish)
  addTools(program, surroundings, finish)
  addSearch(program, surroundings, finish)
  addCall(program, surroundings, finish)
  addDoctor(program, surroundings, finish)
}

/** Adds the options of commands that serve clients. */
export function addServeOptions(command: Command): Command {
  return addServerOptions(command)
    .option('--http <port>', 'also listen on 127.0.0.1, at /mcp and /mcp/<preset>; 0 picks a free port', readPort)
    .addOption(new Option('--expose <name>', 'how clients see the tools').choices(EXPOSURES))
    .option('--no-encoder', NO_ENCODER)
    .option('--inspect', 'show the catalog on a local page and print its URL')
}

const addServe: AddCommands = (program, surroundings, finish) => {
  addServeOptions(program.command('serve'))
    .description('serve all servers to clients, over stdio and HTTP')
    .option('--record <file>', 'record what clients list, search and call in this file, without secrets or results')
    .addHelpText(
      'after',
      formatExamples(
        'foldout serve --config .mcp.json',
        'foldout serve --http 8414 --expose hybrid',
        'foldout serve --preset work',
      ),
    )
    .action(async (options: ServeOptions) => {
      const { serve } = await import('./serve.ts')
      finish(await serve(options, surroundings))
    })
}

const CALL_TIMEOUT = `how long each server may take to start (default: ${DEFAULT_TIMEOUT_MS / 1_000}), and how long the call may go without an answer or progress (default: the server’s timeoutSeconds)`

const addCall: AddCommands = (program, surroundings, finish) => {
  addServerOptions(program.command('call'), { timeout: CALL_TIMEOUT })
    .description('run one tool')
    .argument('<tool>', 'the tool’s name, as shown by foldout tools')
    .argument('[name=value...]', 'arguments of the tool; a value that is JSON is used as such')
    .option('-a, --args <json>', 'the tool’s arguments, as a JSON object')
    .addHelpText(
      'after',
      formatExamples(
        'foldout call get_forecast city=Oslo days=3',
        `foldout call get_forecast --args '{"city": "Oslo"}'`,
        'foldout call weather/get_forecast --json',
      ),
    )
    .action(async (tool: string, pairs: readonly string[], options: CallOptions) => {
      const { callTool } = await import('./call.ts')
      finish(await callTool(tool, pairs, options, surroundings))
    })
}

const addDoctor: AddCommands = (program, surroundings, finish) => {
  addServerOptions(program.command('doctor'))
    .description('start every server and report what is wrong')
    .addHelpText('after', formatExamples('foldout doctor', 'foldout doctor --timeout 120 --json'))
    .action(async (options: ServerOptions) => {
      const { examineServers } = await import('./doctor.ts')
      finish(await examineServers(options, surroundings))
    })
}

const addTools: AddCommands = (program, surroundings, finish) => {
  addServerOptions(program.command('tools'))
    .description('list all tools and their cost in tokens')
    .addHelpText(
      'after',
      formatExamples('foldout tools --config ~/.cursor/mcp.json', 'foldout tools --preset work --json'),
    )
    .action(async (options: ServerOptions) => {
      const { listTools } = await import('./tools.ts')
      finish(await listTools(options, surroundings))
    })
}

const addSearch: AddCommands = (program, surroundings, finish) => {
  addServerOptions(program.command('search'))
    .description('find tools by what they do, as a model would')
    .argument('<query...>', 'what the tool should do')
    .option('-n, --limit <number>', 'show at most this many tools', readCount)
    .option('--explain', 'show why each tool was found: which words matched in which fields')
    .option('--no-encoder', NO_ENCODER)
    .addHelpText(
      'after',
      formatExamples('foldout search "send an e-mail"', 'foldout search refund a customer --limit 3 --explain'),
    )
    .action(async (words: readonly string[], options: SearchCommandOptions) => {
      const { searchTools } = await import('./search.ts')
      finish(await searchTools(words.join(' '), options, surroundings))
    })
}
