import { Option, type Command } from 'commander'
import { STRATEGIES } from '../../inspector/protocol/protocol.ts'
import { addServerOptions, collect, formatExamples, readCount, readPort, type AddCommands } from '../support/options.ts'
import type { InspectOptions } from '../inspect/inspect.ts'
import type { AdviseOptions } from './advise.ts'
import type { LintOptions } from './lint.ts'
import type { RenderPromptOptions } from './render.ts'
import type { SimulateOptions } from './simulate.ts'
import type { TuneOptions } from './tune.ts'

/** Adds the commands for prompts: render, advise, tune, lint, simulate and inspect. */
export const addPromptCommands: AddCommands = (program, surroundings, finish) => {
  addRender(program, surroundings, finish)
  addAdvise(program, surroundings, finish)
  addTune(program, surroundings, finish)
  addLint(program, surroundings, finish)
  addSimulate(program, surroundings, finish)
  addInspect(program, surroundings, finish)
}

const MODULE = 'a TypeScript or JavaScript file that exports a bound prompt; file#name selects a named export'
const VALUES = ['--values <json>', 'values for the prompt, as a JSON object'] as const
const JSON_OPTION = ['--json', 'print JSON'] as const

const createStrategyOption = (description: string): Option =>
  new Option('-s, --strategy <name>', description).choices(STRATEGIES)

const PRICES = [
  '--prices <json>',
  'dollars for a million tokens, or a file with them: {"input": 3, "output": 15, "read": 0.3, "write": 3.75}',
] as const

const PER_HOUR = ' (default: 40)'

/** Adds the options that say what tokens cost. */
function addPriceOptions(command: Command, perHour = ''): Command {
  const caches = ['none', 'anthropic', 'openai']
  const cache = new Option('--cache <provider>', 'the provider whose prompt cache counts (default: anthropic)')
  return addModelOptions(command.addOption(cache.choices(caches)), perHour)
}

function addModelOptions(command: Command, perHour: string): Command {
  return command
    .option('--model <name>', 'the model whose prompt cache counts, such as claude-sonnet-5-5')
    .option(...PRICES)
    .option('--per-hour <number>', `how many conversations an hour begin with this prompt${perHour}`, readCount)
}

const addRender: AddCommands = (program, surroundings, finish) => {
  program
    .command('render')
    .description('show a prompt as a model sees it, with token counts')
    .argument('<module>', MODULE)
    .option('-o, --open <path>', 'open this section, and show the prompt before and after; repeatable', collect)
    .addOption(createStrategyOption('how the model opens sections (default: the prompt’s own)'))
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
  addPriceOptions(program.command('advise'), PER_HOUR)
    .description('suggest what to fold, based on recorded use')
    .argument('<recording>', 'runs of a prompt (createFileRecorder) or gateway traffic (foldout serve --record)')
    .option('--prompt <module>', `for runs of a prompt: ${MODULE}`)
    .option(...VALUES)
    .option('--min-runs <number>', 'give advice only from this many runs or clients on (default: 3)', readCount)
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

const addTune: AddCommands = (program, surroundings, finish) => {
  addPriceOptions(program.command('tune'), PER_HOUR)
    .description('write the cheapest folding for recorded runs or gateway traffic as overrides')
    .argument('<recording>', 'runs of a prompt (createFileRecorder) or gateway traffic (foldout serve --record)')
    .option('--prompt <module>', MODULE)
    .option('--min-runs <number>', 'change something only from this many runs on (default: 10)', readCount)
    .option('-c, --config <file>', 'for gateway traffic: the configuration (default: the one in this folder)')
    .option('--root <folder>', 'the folder of the override files (default: prompts)')
    .option('--tag <name>', 'the name of the override file (default: tuned)')
    .option('-n, --dry-run', 'print what would change, and write nothing')
    .option(...VALUES)
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      formatExamples(
        'foldout tune runs.jsonl --prompt support.ts --dry-run',
        'foldout tune runs.jsonl --prompt support.ts --model claude-sonnet-5-5 --per-hour 40',
        'foldout tune traffic.jsonl --config .mcp.json',
      ),
    )
    .action(async (recording: string, options: TuneOptions) => {
      const { tuneFrom } = await import('./tune.ts')
      finish(await tuneFrom(recording, options, surroundings))
    })
}

const addLint: AddCommands = (program, surroundings, finish) => {
  program
    .command('lint')
    .description('find folds that do not pay, and summaries that miss what people ask for')
    .argument('<module>', MODULE)
    .option('--summaries <file>', 'what people asked for: cases of a comparison, or runs with texts (recordRun)')
    .option(...VALUES)
    .option(...JSON_OPTION)
    .addHelpText('after', formatExamples('foldout lint support.ts', 'foldout lint support.ts --summaries cases.jsonl'))
    .action(async (module: string, options: LintOptions) => {
      const { lintPrompt } = await import('./lint.ts')
      finish(await lintPrompt(module, options, surroundings))
    })
}

const addSimulate: AddCommands = (program, surroundings, finish) => {
  addPriceOptions(program.command('simulate'))
    .description('compare what a prompt costs with each strategy')
    .argument('<module>', MODULE)
    .option('-o, --open <path>', 'the model opens this section, then answers; repeatable', collect)
    .option('--steps <file>', 'what the model does, in a JSON file: [{"opens": ["refunds"]}, {"answers": 80}]')
    .option('--recording <file>', 'replay what the model did in recorded runs (createFileRecorder)')
    .addOption(createStrategyOption('compare only this strategy with the fully open prompt (default: all strategies)'))
    .option(...VALUES)
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      formatExamples(
        'foldout simulate support.ts --open refunds',
        'foldout simulate support.ts --recording runs.jsonl --model claude-sonnet-5-5 --per-hour 40',
        'foldout simulate support.ts --recording runs.jsonl --prices prices.json',
      ),
    )
    .action(async (module: string, options: SimulateOptions) => {
      const { simulatePrompt } = await import('./simulate.ts')
      finish(await simulatePrompt(module, options, surroundings))
    })
}

const addInspect: AddCommands = (program, surroundings, finish) => {
  addModelOptions(addServerOptions(program.command('inspect')), PER_HOUR)
    .description('explore prompts, runs and tools in the browser')
    .argument(
      '[target]',
      'a recording of runs, a saved comparison, or a module that exports a prompt (default: the servers of the configuration)',
    )
    .option('--prompt <module>', `for a recording: ${MODULE}`)
    .option('--port <port>', 'the port on 127.0.0.1 (default: any free port)', readPort)
    .option('--no-open', 'print the URL without opening a browser')
    .option('--mcp', 'serve a recording to an agent over stdio, as MCP resources')
    .option(...VALUES)
    .addHelpText(
      'after',
      formatExamples(
        'foldout inspect support.ts',
        'foldout inspect runs.jsonl --prompt support.ts',
        'foldout inspect compare.jsonl',
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
