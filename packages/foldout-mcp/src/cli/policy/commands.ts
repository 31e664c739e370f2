import { Option, type Command } from 'commander'
import { AUDIT_OUTCOMES } from '../../gateway/policy/audit/audit-store.ts'
import { collect, formatExamples, readCount, readTime, type AddCommands } from '../options.ts'
import type { ApproveOptions } from './approve.ts'
import { STORE_OPTION } from '../store.ts'
import { TRUST_OPTION } from '../trust/option.ts'
import type { PolicyOptions } from './approvals.ts'
import type { AuditOptions } from './audit.ts'

/** Adds the commands that decide what servers and clients may do. */
export const addPolicyCommands: AddCommands = (program, surroundings, finish) => {
  addApprovals(program, surroundings, finish)
  addApprove(program, surroundings, finish)
  addDeny(program, surroundings, finish)
  addPins(program, surroundings, finish)
  addAudit(program, surroundings, finish)
}

const addApprovals: AddCommands = (program, surroundings, finish) => {
  addStoreOptions(program.command('approvals'))
    .description('list the calls waiting for your approval')
    .option('--json', 'print JSON')
    .addHelpText('after', formatExamples('foldout approvals', 'foldout approvals --json'))
    .action(async (options: PolicyOptions) => {
      const { listApprovals } = await import('./approvals.ts')
      finish(await listApprovals(options, surroundings))
    })
}

const addApprove: AddCommands = (program, surroundings, finish) => {
  addStoreOptions(program.command('approve'))
    .description('approve a waiting call, or changed tool definitions')
    .argument('[server]', 'the server whose tool definitions you accept')
    .argument('[tool]', 'accept only this tool of the server')
    .option('--all', 'accept the tool definitions of all servers')
    .option('--call <id>', 'let the call with this id run once; foldout approvals lists the ids')
    .option('--json', 'print JSON')
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
    .description('refuse a waiting call')
    .argument('[id]', 'the call’s id; without one, lists the waiting calls')
    .option('--json', 'print JSON')
    .addHelpText('after', formatExamples('foldout deny 0f1e2d3c4b5a6978', 'foldout deny'))
    .action(async (id: string | undefined, options: PolicyOptions) => {
      const { deny } = await import('./approve.ts')
      finish(await deny(id, options, surroundings))
    })
}

const addPins: AddCommands = (program, surroundings, finish) => {
  addStoreOptions(program.command('pins'))
    .description('list accepted tool definitions and what has changed')
    .option('--json', 'print JSON')
    .addHelpText('after', formatExamples('foldout pins', 'foldout pins --json'))
    .action(async (options: PolicyOptions) => {
      const { listPins } = await import('./pins.ts')
      finish(await listPins(options, surroundings))
    })
}

const addAudit: AddCommands = (program, surroundings, finish) => {
  addStoreOptions(program.command('audit'))
    .description('find calls in the audit log, newest first')
    .option('--file <file>', 'an audit log file, instead of the one in the configuration')
    .option('--since <time>', 'at or after this time: 2026-11-17, 2026-11-17T08:00Z, or 90m, 12h or 7d ago', readTime)
    .option('--until <time>', 'before this time', readTime)
    .option('--tool <pattern>', 'server/tool; * matches any text')
    .option('--user <pattern>', 'the user whose token the client sent; * matches any text')
    .option('--client <pattern>', 'the name the client gave; * matches any text')
    .addOption(new Option('--outcome <outcome>', 'how the call ended').choices(AUDIT_OUTCOMES))
    .option('-n, --limit <number>', 'show at most this many calls (default: 50)', readCount)
    .option('--after <place>', 'continue after the previous page')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      formatExamples('foldout audit --since 12h --outcome denied', "foldout audit --tool 'github/*' --user ada --json"),
    )
    .action(async (options: AuditOptions) => {
      const { searchAudit } = await import('./audit.ts')
      finish(await searchAudit(options, surroundings))
    })
}

/** Adds the options of commands that read or change what gateways store. */
export function addStoreOptions(command: Command): Command {
  return command
    .option('-c, --config <file>', 'the configuration that names the store (default: as for foldout serve)', collect)
    .option(...TRUST_OPTION)
    .option(...STORE_OPTION)
    .option('--data <folder>', 'where approvals are kept without a store (default: your data folder)')
}
