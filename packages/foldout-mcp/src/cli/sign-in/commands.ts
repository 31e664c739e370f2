import type { Command } from 'commander'
import { LOGIN_TIMEOUT_MS } from '../../gateway/auth/limits.ts'
import { collect, formatExamples, readSeconds, type AddCommands } from '../options.ts'
import { STORE_OPTION } from '../store.ts'
import { TRUST_OPTION } from '../trust/option.ts'
import type { LoginCommandOptions } from './login.ts'

/** Adds the commands that sign in to HTTP servers and sign out again. */
export const addSignInCommands: AddCommands = (program, surroundings, finish) => {
  addCommonOptions(program.command('login'))
    .description('sign in to an HTTP server with a browser')
    .argument('<server>', 'the server’s name in the configuration')
    .option('--no-browser', 'only print the URL; open it in a browser on this machine')
    .option(
      '--timeout <seconds>',
      `how long to wait for the browser (default: ${LOGIN_TIMEOUT_MS / 1_000})`,
      readSeconds,
    )
    .addHelpText(
      'after',
      formatExamples('foldout login tickets', 'foldout login tickets --config .mcp.json --no-browser'),
    )
    .action(async (server: string, options: LoginCommandOptions) => {
      const { runLogin } = await import('./login.ts')
      finish(await runLogin(server, options, surroundings))
    })
  addCommonOptions(program.command('logout'))
    .description('sign out of a server and delete its tokens')
    .argument('<server>', 'the server’s name in the configuration')
    .addHelpText('after', formatExamples('foldout logout tickets'))
    .action(async (server: string, options: LoginCommandOptions) => {
      const { runLogout } = await import('./login.ts')
      finish(await runLogout(server, options, surroundings))
    })
}

function addCommonOptions(command: Command): Command {
  return command
    .option(
      '-c, --config <file>',
      'a file with mcpServers; repeatable (default: foldout.config.ts, foldout.config.json or .mcp.json)',
      collect,
    )
    .option(...TRUST_OPTION)
    .option(...STORE_OPTION)
    .option('--json', 'print JSON')
}
