import type { Command } from 'commander'
import { collect, formatExamples, readSeconds } from '../options.ts'
import type { Surroundings } from '../session.ts'
import type { AddOptions, RemoveOptions } from './add.ts'
import type { ImportOptions } from './import.ts'
import type { InstallOptions } from './install.ts'

type Finish = (code: number) => void

/** Adds the commands that change configurations: the gateway's own, and those of MCP clients. */
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
const PROJECT_FOLDER = 'the folder of a project'

function addImport(program: Command, surroundings: Surroundings, finish: Finish): void {
  program
    .command('import')
    .description('take over the servers of the MCP clients on this machine')
    .option(...CONFIG)
    .option('--client <name>', 'only this client; may be given several times', collect)
    .option('--project <folder>', `${PROJECT_FOLDER}, whose files are read too (default: this folder)`)
    .option('--no-project', 'read the files of the user only')
    .option('--dry-run', 'write nothing')
    .option('--json', 'print JSON for programs; writes only if --config is given')
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
    .description('put the gateway into an MCP client')
    .argument('<client>', 'for example cursor, claude-code or vscode')
    .option(...CONFIG)
    .option('--project [folder]', 'for one project instead of for the user')
    .option('--name <name>', 'what the client calls the gateway', 'foldout')
    .option('--move', 'move the client’s other servers into the gateway’s configuration')
    .option('--edit', 'edit the client’s file, even if it has a command of its own')
    .option('--dry-run', 'say what would be done')
    .option('--links', 'print a link that installs by one click, and change nothing')
    .option('--json', 'print JSON for programs')
    .addHelpText(
      'after',
      formatExamples(
        'foldout install cursor',
        'foldout install claude-code --project --config foldout.config.json',
        'foldout install claude-desktop --move',
        'foldout install vscode --links',
      ),
    )
    .action(async (client: string, options: InstallOptions) => {
      const { install } = await import('./install.ts')
      finish(await install(client, options, surroundings))
    })
}

function addUninstall(program: Command, surroundings: Surroundings, finish: Finish): void {
  program
    .command('uninstall')
    .description('take the gateway out of an MCP client, and put back what install moved')
    .argument('<client>', 'for example cursor, claude-code or vscode')
    .option('--project [folder]', 'for one project instead of for the user')
    .option('--dry-run', 'say what would be done')
    .option('--json', 'print JSON for programs')
    .addHelpText('after', formatExamples('foldout uninstall cursor', 'foldout uninstall claude-code --project'))
    .action(async (client: string, options: InstallOptions) => {
      const { uninstall } = await import('./install.ts')
      finish(await uninstall(client, options, surroundings))
    })
}

function addAdd(program: Command, surroundings: Surroundings, finish: Finish): void {
  program
    .command('add')
    .description('add a server to the gateway’s configuration, after trying it')
    .argument('<name>', 'what the server is called')
    .argument('[command...]', 'after --: the command that starts it')
    .option(...CONFIG)
    .option('--url <url>', 'the address of a server over HTTP')
    .option('--from <file>', 'a server.json of the MCP registry')
    .option('--remote', 'with --from: use a remote server, even if there is a package')
    .option('-e, --env <name=value>', 'a variable of the server; NAME alone refers to your environment', collect)
    .option('--header <name=value>', 'with --url: a header', collect)
    .option('--set <name=value>', 'with --from: an argument, header or part of the address', collect)
    .option('--no-try', 'do not start the server')
    .option('--timeout <seconds>', 'how long the server may take to start', readSeconds)
    .option('--json', 'print JSON for programs')
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
    .description('remove a server from the gateway’s configuration')
    .argument('<name>', 'what the server is called')
    .option(...CONFIG)
    .option('--json', 'print JSON for programs')
    .addHelpText('after', formatExamples('foldout remove files'))
    .action(async (name: string, options: RemoveOptions) => {
      const { removeServer } = await import('./add.ts')
      finish(await removeServer(name, options, surroundings))
    })
}
