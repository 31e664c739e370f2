import { formatExamples, readCount, readSeconds, type AddCommands } from '../support/options.ts'
import { addStoreOptions } from '../policy/commands.ts'
import type { AnswerOptions } from './answer.ts'
import type { FleetCommandOptions } from './show.ts'

/** Adds the commands for gateways and agents that run on several machines. */
export const addFleetCommands: AddCommands = (program, surroundings, finish) => {
  const fleet = addStoreOptions(program.command('fleet'))
    .description('show the gateways and runs that share a database')
    .option('--watch', 'keep refreshing until you stop it')
    .option('--interval <seconds>', 'with --watch: time between refreshes (default: 2)', readSeconds)
    .option('-n, --runs <number>', 'show at most this many runs (default: 20)', readCount)
    .option('--json', 'print JSON; with --watch, one line per refresh')
    .addHelpText(
      'after',
      formatExamples(
        'foldout fleet --store postgres://db.example.com/foldout',
        'foldout fleet --watch',
        'foldout fleet --watch --json --interval 10',
        "foldout fleet approve 'support/ticket-17#0f1e2d3c4b5a6978'",
      ),
    )
    .action(async (options: FleetCommandOptions) => {
      const { showFleet } = await import('./show.ts')
      finish(await showFleet(options, surroundings))
    })
  for (const verb of ['approve', 'deny'] as const) {
    const command = addStoreOptions(fleet.command(verb))
      .description(verb === 'approve' ? 'let one waiting call run once' : 'refuse one waiting call')
      .argument('<id>', 'the call’s id, as shown by foldout fleet')
      .option('--json', 'print JSON')
    if (verb === 'deny') command.option('--reason <text>', 'the reason given to the model of a run')
    command
      .addHelpText(
        'after',
        formatExamples(
          `foldout fleet ${verb} 'support/ticket-17#0f1e2d3c4b5a6978'`,
          `foldout fleet ${verb} 0f1e2d3c4b5a6978`,
        ),
      )
      // The options of `fleet` itself may come before the verb.
      .action(async (id: string, options: AnswerOptions) => {
        const { answerCall } = await import('./answer.ts')
        finish(await answerCall(id, verb === 'approve', { ...fleet.opts(), ...options }, surroundings))
      })
  }
}
