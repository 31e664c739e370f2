import { Option } from 'commander'
import type { ExposureName } from '../gateway/config/definition.ts'
import type { CallOptions } from './call.ts'
import { addServerOptions, formatExamples, readCount, readPort, type AddCommands } from './options.ts'
import type { SearchCommandOptions } from './search.ts'
import type { ServeOptions } from './serve.ts'
import type { ServerOptions } from './session.ts'

const NO_ENCODER = 'search by words only, even if the sentence encoder is installed'

const EXPOSURES = ['auto', 'all', 'hybrid', 'meta-tool', 'two-phase', 'code'] satisfies readonly ExposureName[]

/** Adds the commands that connect to servers: they serve, call, examine, list and search. */
export const addGatewayCommands: AddCommands = (program, surroundings, finish) => {
  addServe(program, surroundings, finish)
  addCall(program, surroundings, finish)
  addDoctor(program, surroundings, finish)
  addTools(program, surroundings, finish)
  addSearch(program, surroundings, finish)
}

const addServe: AddCommands = (program, surroundings, finish) => {
  addServerOptions(program.command('serve'))
    .description('serve all servers to an MCP client: over standard input and output, and over HTTP')
    .option('--http <port>', 'listen on 127.0.0.1 too, at /mcp and /mcp/<preset>; 0 takes any free port', readPort)
    .addOption(new Option('--expose <name>', 'how clients see the tools').choices(EXPOSURES))
    .option('--no-encoder', NO_ENCODER)
    .option('--inspect', 'show the catalog on a local page, whose address is printed')
    .option('--record <file>', 'write what clients list, search and call to this file, without secrets and results')
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

const addCall: AddCommands = (program, surroundings, finish) => {
  addServerOptions(program.command('call'))
    .description('run one tool')
    .argument('<tool>', 'its name, as foldout tools shows it')
    .option('-a, --args <json>', 'its arguments, as a JSON object')
    .addHelpText(
      'after',
      formatExamples(`foldout call get_forecast --args '{"city": "Oslo"}'`, 'foldout call weather/get_forecast --json'),
    )
    .action(async (tool: string, options: CallOptions) => {
      const { callTool } = await import('./call.ts')
      finish(await callTool(tool, options, surroundings))
    })
}

const addDoctor: AddCommands = (program, surroundings, finish) => {
  addServerOptions(program.command('doctor'))
    .description('start every server and say what is wrong with it')
    .addHelpText('after', formatExamples('foldout doctor', 'foldout doctor --timeout 120 --json'))
    .action(async (options: ServerOptions) => {
      const { examineServers } = await import('./doctor.ts')
      finish(await examineServers(options, surroundings))
    })
}

const addTools: AddCommands = (program, surroundings, finish) => {
  addServerOptions(program.command('tools'))
    .description('list the tools of all servers and what they cost')
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
    .option('--explain', 'say why each tool was found: which words, in which fields')
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
