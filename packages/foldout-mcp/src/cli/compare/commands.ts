import type { Command } from 'commander'
import { collect, formatExamples, readAmount, readCount, type AddCommands } from '../support/options.ts'
import type { CompareCommandOptions } from './compare.ts'

const CASES =
  'a JSONL file, one case to a line: {"id": "refund", "input": "Refund order 17.", "calls": [{"name": "refund_order"}]}'

/** Adds the commands that compare ways to run an agent. */
export const addCompareCommands: AddCommands = (program, surroundings, finish) => {
  const compare = addOptions(program.command('compare'))
    .description('compare ways to show a prompt or tools, in success and in money')
    .argument('<cases>', CASES)
    .option('--budget <dollars>', 'begin no run after this many dollars; needs --prices', readAmount)
    .option('--offline', 'run nothing: report what the file of --save has')
    .option('--junit <file>', 'write JUnit XML, in which an arm that is worse is a failure')
    .option('--markdown <file>', 'write Markdown, for a pull request')
    .option('--json', 'print JSON')
    .option('-q, --quiet', 'show no progress')
    .addHelpText(
      'after',
      `
The prompt’s module may also export adapter (the model), arms, user, world and session.
Exit codes: 0 not worse, 1 worse, 2 undecided, 3 no verdict.
${formatExamples(
  'foldout compare plan cases.jsonl --prompt support.ts --prices prices.json --repeat 5',
  'foldout compare cases.jsonl --prompt support.ts --arms full,folded,ahead --repeat 5 --save compare.jsonl',
  'foldout compare cases.jsonl --config .mcp.json --adapter model.ts --arms all,hybrid',
  'foldout inspect compare.jsonl',
)}`,
    )
    .action(async (cases: string, options: CompareCommandOptions) => {
      const { compareArms } = await import('./compare.ts')
      finish(await compareArms(cases, options, surroundings))
    })
  addOptions(compare.command('plan'))
    .description('say how many runs and dollars it takes, and which drop it can show')
    .argument('<cases>', CASES)
    .option('--json', 'print JSON')
    .addHelpText('after', formatExamples('foldout compare plan cases.jsonl --prompt support.ts --prices prices.json'))
    // The options of `compare` itself may come before `plan`.
    .action(async (cases: string, options: CompareCommandOptions) => {
      const { planArms } = await import('./compare.ts')
      finish(await planArms(cases, { ...compare.opts(), ...options }, surroundings))
    })
}

function addOptions(command: Command): Command {
  return command
    .option(
      '--prompt <module>',
      'a TypeScript or JavaScript file that exports a bound prompt; file#name selects a named export',
    )
    .option('--values <json>', 'values for the prompt, as a JSON object')
    .option('-c, --config <file>', 'compare ways to show the tools of these mcpServers instead; repeatable', collect)
    .option('--adapter <module>', 'a module that exports adapter, the model (default: the prompt’s module)')
    .option(
      '--arms <names>',
      'full, folded, ahead, a strategy, or what the module exports; with --config: all, hybrid, auto, meta-tool',
      readNames,
    )
    .option('--repeat <number>', 'how often each arm runs each case (default: 1)', readCount)
    .option('--looks <numbers>', 'after how many repeats to stop if it is decided, such as 3,5', readCounts)
    .option('--grade <module>', 'a module that exports functions that grade runs (default: what the cases expect)')
    .option('--margin <points>', 'how much worse counts as not worse (default: 5)', readAmount)
    .option(
      '--prices <json>',
      'dollars per million tokens, as JSON or in a file: {"input": 3, "output": 15, "read": 0.3}',
    )
    .option('--per-hour <number>', 'how many conversations an hour begin with this prompt', readAmount)
    .option('--save <file>', 'add every run to this file; what it has is not run, and not paid, again')
    .option('--seed <number>', 'the order of the runs (default: 1)', readAmount)
    .option('--parallel <number>', 'how many runs are under way at the same time (default: 4)', readCount)
}

function readNames(text: string): readonly string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

const readCounts = (text: string): readonly number[] => text.split(',').map((count) => readCount(count.trim()))
