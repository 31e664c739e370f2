import { Option, type Command } from 'commander'
import { AUDIT_OUTCOMES } from '../../gateway/policy/audit/audit-store.ts'
import { collect, formatExamples, readCount, readTime, type AddCommands } from '../options.ts'
import type { ApproveOptions } from './approve.ts'
import { STORE_OPTION } from '../store.ts'
import type { PolicyOptions } from './approvals.ts'
import type { AuditOptions } from './audit.ts'

/** Adds the commands with which the user decides what servers and clients may do. */
export const addPolicyCommands: AddCommands = (program, surroundings, finish) => {
  addApprovals(program, surroundings, finish)
  addApprove(program, surroundings, finish)
  addDeny(program, surroundings, finish)
  addPins(program, surroundings, finish)
  addAudit(program, surroundings, finish)
}

const addApprovals: AddCommands = (program, surroundings, finish) => {
  addStoreOptions(program.command('approvals'))
    .description('list the calls that wait for your approval')
    .option('--json', 'print JSON for programs')
    .addHelpText('after', formatExamples('foldout approvals', 'foldout approvals --json'))
    .action(async (options: PolicyOptions) => {
      const { listApprovals } = await import('./approvals.ts')
      finish(await listApprovals(options, surroundings))
    })
}

const addApprove: AddCommands = (program, surroundings, finish) => {
  addStoreOptions(program.command('approve'))
    .description('approve a call that waits, or definitions of tools that are new or have changed')
    .argument('[server]', 'the server whose definitions you accept')
    .argument('[tool]', 'only this tool of it')
    .option('--all', 'accept the definitions of all servers')
    .option('--call <id>', 'let one call run once; foldout approvals shows its id')
    .option('--json', 'print JSON for programs')
    .addHelpText(
      'after',
      formatExamples(
        'foldout approve github create_issue',
        'foldout approve github',
        'foldout approve --call 0f1e2d3c4b5a6978',
      ),
    )
    .action(async (server: string | undefined, tool: string | undefined, options: ApproveOptions) => {
      const { approve } = await import('./approve.ts')
      finish(await approve(server, tool, options, surroundings))
    })
}

const addDeny: AddCommands = (program, surroundings, finish) => {
  addStoreOptions(program.command('deny'))
    .description('refuse a call that waits; without an id, list those that do')
    .argument('[id]', 'the call; foldout approvals shows its id')
    .option('--json', 'print JSON for programs')
    .addHelpText('after', formatExamples('foldout deny 0f1e2d3c4b5a6978', 'foldout deny'))
    .action(async (id: string | undefined, options: PolicyOptions) => {
      const { deny } = await import('./approve.ts')
      finish(await deny(id, options, surroundings))
    })
}

const addPins: AddCommands = (program, surroundings, finish) => {
  addStoreOptions(program.command('pins'))
    .description('list the accepted definitions of tools, and what differs from them now')
    .option('--json', 'print JSON for programs')
    .addHelpText('after', formatExamples('foldout pins', 'foldout pins --json'))
    .action(async (options: PolicyOptions) => {
      const { listPins } = await import('./pins.ts')
      finish(await listPins(options, surroundings))
    })
}

const addAudit: AddCommands = (program, surroundings, finish) => {
  addStoreOptions(program.command('audit'))
    .description('find calls in the audit log, the newest first')
    .option('--file <file>', 'an audit log in a file, in place of the one that the configuration names')
    .option(
      '--since <time>',
      'from this time on: 2026-11-17, 2026-11-17T08:00Z, or how long ago: 90m, 12h, 7d',
      readTime,
    )
    .option('--until <time>', 'before this time', readTime)
    .option('--tool <pattern>', 'server/tool; * stands for any text')
    .option('--user <pattern>', 'whose token the client had')
    .option('--client <pattern>', 'how the client called itself')
    .addOption(new Option('--outcome <outcome>', 'what became of the call').choices(AUDIT_OUTCOMES))
    .option('-n, --limit <number>', 'show at most this many (default: 50)', readCount)
    .option('--after <place>', 'go on where the page before ended')
    .option('--json', 'print JSON for programs')
    .addHelpText(
      'after',
      formatExamples('foldout audit --since 12h --outcome denied', "foldout audit --tool 'github/*' --user ada --json"),
    )
    .action(async (options: AuditOptions) => {
      const { searchAudit } = await import('./audit.ts')
      finish(await searchAudit(options, surroundings))
    })
}

/** Adds the options of commands that work with what gateways keep. */
export function addStoreOptions(command: Command): Command {
  return command
    .option(
      '-c, --config <file>',
      'a file that names the store of the gateways (default: as for foldout serve)',
      collect,
    )
    .option(...STORE_OPTION)
    .option('--data <folder>', 'where approvals are kept without a store (default: your folder for data)')
}
