import { Option } from 'commander'
import { STRATEGIES } from '../../inspector/protocol.ts'
import { addServerOptions, collect, formatExamples, readCount, readPort, type AddCommands } from '../options.ts'
import type { InspectOptions } from '../inspect/inspect.ts'
import type { AdviseOptions } from './advise.ts'
import type { RenderPromptOptions } from './render.ts'
import type { SimulateOptions } from './simulate.ts'

/** Adds the commands about prompts: they render, advise, simulate and show them in a browser. */
export const addPromptCommands: AddCommands = (program, surroundings, finish) => {
  addRender(program, surroundings, finish)
  addAdvise(program, surroundings, finish)
  addSimulate(program, surroundings, finish)
  addInspect(program, surroundings, finish)
}

const MODULE = 'a TypeScript or JavaScript file that exports a bound prompt; file#name takes a named export'
const VALUES = ['--values <json>', 'values for the prompt, as a JSON object'] as const
const JSON_OPTION = ['--json', 'print JSON for programs'] as const

const createStrategyOption = (description: string): Option =>
  new Option('-s, --strategy <name>', description).choices(STRATEGIES)

const addRender: AddCommands = (program, surroundings, finish) => {
  program
    .command('render')
    .description('show a prompt as a model sees it: its text, and its sections with their tokens')
    .argument('<module>', MODULE)
    .option(
      '-o, --open <path>',
      'open this section, and show the prompt before and after; may be given several times',
      collect,
    )
    .addOption(createStrategyOption('how the model opens sections (default: that of the prompt)'))
    .option(...VALUES)
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      formatExamples(
        'foldout render support.ts',
        'foldout render support.ts#clerk --open refunds --strategy open-sections',
        `foldout render support.ts --values '{"shop": "Lampworks"}' --json`,
      ),
    )
    .action(async (module: string, options: RenderPromptOptions) => {
      const { renderPrompt } = await import('./render.ts')
      finish(await renderPrompt(module, options, surroundings))
    })
}

const addAdvise: AddCommands = (program, surroundings, finish) => {
  program
    .command('advise')
    .description('say what to show from the start and what to fold, from recorded use')
    .argument(
      '<recording>',
      'runs of a prompt (createFileRecorder), or traffic of the gateway (foldout serve --record)',
    )
    .option('--prompt <module>', `for runs of a prompt: ${MODULE}`)
    .option(...VALUES)
    .option('--min-runs <number>', 'the fewest runs, or clients, that advice may be based on (default: 3)', readCount)
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      formatExamples('foldout advise runs.jsonl --prompt support.ts', 'foldout advise traffic.jsonl --json'),
    )
    .action(async (recording: string, options: AdviseOptions) => {
      const { adviseFrom } = await import('./advise.ts')
      finish(await adviseFrom(recording, options, surroundings))
    })
}

const addSimulate: AddCommands = (program, surroundings, finish) => {
  program
    .command('simulate')
    .description('compute what a run of a prompt costs with each strategy')
    .argument('<module>', MODULE)
    .option('-o, --open <path>', 'the model opens this section, then answers; may be given several times', collect)
    .option('--steps <file>', 'what the model does, as JSON: [{"opens": ["refunds"]}, {"answers": 80}]')
    .option('--recording <file>', 'what the model did in recorded runs (createFileRecorder)')
    .addOption(createStrategyOption('only this strategy, and everything in full (default: all)'))
    .addOption(
      new Option('--cache <provider>', 'whose prompt cache is simulated').choices(['none', 'anthropic', 'openai']),
    )
    .option(...VALUES)
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      formatExamples(
        'foldout simulate support.ts --open refunds',
        'foldout simulate support.ts --recording runs.jsonl --cache anthropic',
      ),
    )
    .action(async (module: string, options: SimulateOptions) => {
      const { simulatePrompt } = await import('./simulate.ts')
      finish(await simulatePrompt(module, options, surroundings))
    })
}

const addInspect: AddCommands = (program, surroundings, finish) => {
  addServerOptions(program.command('inspect'))
    .description('show prompts, runs and the tools of servers in the browser: what is folded, what it costs, and why')
    .argument(
      '[target]',
      'a recording of runs, which is followed while it grows, or the module of a prompt; without one, the servers of a configuration, if there is one',
    )
    .option('--prompt <module>', `for a recording: ${MODULE}`)
    .option('--port <port>', 'the port on 127.0.0.1 (default: any free one)', readPort)
    .option('--no-open', 'print the address, and do not open a browser')
    .option('--mcp', 'serve a recording to an agent as MCP resources, over standard input and output')
    .option(...VALUES)
    .addHelpText(
      'after',
      formatExamples(
        'foldout inspect support.ts',
        'foldout inspect runs.jsonl --prompt support.ts',
        'foldout inspect --config .mcp.json',
        'foldout inspect support.ts#clerk --no-open',
        'foldout inspect runs.jsonl --mcp',
      ),
    )
    .action(async (target: string | undefined, options: InspectOptions) => {
      const { inspect } = await import('../inspect/inspect.ts')
      finish(await inspect(target, options, surroundings))
    })
}
