import type { Command } from 'commander'
import { collect, formatExamples, readSeconds } from '../support/options.ts'
import type { Surroundings } from '../support/surroundings.ts'
import { TRUST_OPTION } from '../support/trust-option.ts'
import type { AddOptions, RemoveOptions } from './add.ts'
import type { ImportOptions } from './import.ts'
import type { InstallOptions } from './install.ts'

type Finish = (code: number) => void

/** Adds the commands that change configurations: the gateway's own and those of MCP clients. */
export function addConfigureCommands(program: Command, surroundings: Surroundings, finish: Finish): void {
  addImport(program, surroundings, finish)
  addInstall(program, surroundings, finish)
  addUninstall(program, surroundings, finish)
  addAdd(program, surroundings, finish)
  addRemove(program, surroundings, finish)
}

const CONFIG = [
  '-c, --config <file>',
  'the gateway’s configuration (default: foldout.config.json in this folder)',
] as const
/** Beside a file in use, another one would hide its servers. */
const CHANGED_CONFIG = [
  '-c, --config <file>',
  'the gateway’s configuration (default: foldout.config.json or .mcp.json in this folder, whichever is in use)',
] as const
/** An installation does not write servers to it, so it may be code. */
const SERVED_CONFIG = [
  '-c, --config <file>',
  'the gateway’s configuration (default: foldout.config.ts, foldout.config.json or .mcp.json in this folder)',
] as const
const PROJECT_FOLDER = 'a project folder'

function addImport(program: Command, surroundings: Surroundings, finish: Finish): void {
  program
    .command('import')
    .description('import the servers of the MCP clients on this machine')
    .option(...CONFIG)
    .option(...TRUST_OPTION)
    .option('--client <name>', 'only this client; repeatable', collect)
    .option('--project <folder>', `${PROJECT_FOLDER} whose files are read too (default: this folder)`)
    .option('--no-project', 'read only your user-wide files')
    .option('--dry-run', 'write nothing')
    .option('--json', 'print JSON; writes only if --config is given')
    .addHelpText(
      'after',
      formatExamples('foldout import', 'foldout import --client cursor --dry-run', 'foldout import --json'),
    )
    .action(async (options: ImportOptions) => {
      const { importServers } = await import('./import.ts')
      finish(await importServers(options, surroundings))
    })
}

function addInstall(program: Command, surroundings: Surroundings, finish: Finish): void {
  program
    .command('install')
    .description('install the gateway in an MCP client')
    .argument('[client]', 'for example cursor, claude-code or vscode; without one, lists those on this machine')
    .option(...SERVED_CONFIG)
    .option(...TRUST_OPTION)
    .option('--project [folder]', 'only for one project (default: this folder)')
    .option('--name <name>', 'the gateway’s name in the client', 'foldout')
    .option('--move', 'move the client’s other servers into the gateway’s configuration')
    .option('--edit', 'edit the client’s file even if the client has its own command')
    .option('--dry-run', 'show what would change, and change nothing')
    .option('--start', 'start every server once to fill the cache and to see what works (default: on a terminal)')
    .option('--no-start', 'start no server')
    .option('--links', 'print a link that installs with one click, and change nothing')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      formatExamples(
        'foldout install',
        'foldout install cursor',
        'foldout install claude-code --project --config foldout.config.json',
        'foldout install claude-desktop --move',
        'foldout install vscode --links',
      ),
    )
    .action(async (client: string | undefined, options: InstallOptions) => {
      const { install, listInstallable } = await import('./install.ts')
      if (client === undefined) return finish(listInstallable(options, surroundings))
      finish(await install(client, options, surroundings))
    })
}

function addUninstall(program: Command, surroundings: Surroundings, finish: Finish): void {
  program
    .command('uninstall')
    .description('remove the gateway, and restore what install moved')
    .argument('<client>', 'for example cursor, claude-code or vscode')
    .option('--project [folder]', 'only for one project (default: this folder)')
    .option('--dry-run', 'show what would change, and change nothing')
    .option('--json', 'print JSON')
    .addHelpText('after', formatExamples('foldout uninstall cursor', 'foldout uninstall claude-code --project'))
    .action(async (client: string, options: InstallOptions) => {
      const { uninstall } = await import('./install.ts')
      finish(await uninstall(client, options, surroundings))
    })
}

function addAdd(program: Command, surroundings: Surroundings, finish: Finish): void {
  program
    .command('add')
    .description('try a server, then add it to the configuration')
    .argument('<name>', 'the server’s name')
    .argument('[command...]', 'after --: the command that starts the server')
    .option(...CHANGED_CONFIG)
    .option(...TRUST_OPTION)
    .option('--url <url>', 'the URL of an HTTP server')
    .option('--from <file>', 'a server.json from the MCP registry')
    .option('--remote', 'with --from: prefer the remote server to the package')
    .option(
      '-e, --env <name=value>',
      'an environment variable for the server; NAME alone takes its value from your environment',
      collect,
    )
    .option('--header <name=value>', 'with --url: a header', collect)
    .option('--set <name=value>', 'with --from: an argument, a header or a part of the URL', collect)
    .option('--no-try', 'add the server without starting it first')
    .option('--timeout <seconds>', 'how long to wait for the server to start', readSeconds)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      formatExamples(
        'foldout add files -- npx -y @modelcontextprotocol/server-filesystem .',
        "foldout add tickets --url https://tickets.example.com/mcp --header 'Authorization=Bearer ${TICKETS_TOKEN}'",
        'foldout add github --from server.json --env GITHUB_TOKEN',
      ),
    )
    .action(async (name: string, command: readonly string[], options: AddOptions) => {
      const { addServer } = await import('./add.ts')
      finish(await addServer(name, command, options, surroundings))
    })
}

function addRemove(program: Command, surroundings: Surroundings, finish: Finish): void {
  program
    .command('remove')
    .description('remove a server from the configuration')
    .argument('<server>', 'the server’s name')
    .option(...CHANGED_CONFIG)
    .option(...TRUST_OPTION)
    .option('--json', 'print JSON')
    .addHelpText('after', formatExamples('foldout remove files'))
    .action(async (name: string, options: RemoveOptions) => {
      const { removeServer } = await import('./add.ts')
      finish(await removeServer(name, options, surroundings))
    })
}
