import { addServeOptions } from '../gateway/commands.ts'
import { addServerOptions, formatExamples, readShare, type AddCommands } from '../support/options.ts'
import type { ServeOptions } from '../gateway/serve.ts'
import type { EvaluateOptions } from './evaluate.ts'
import type { ReplayOptions } from './replay.ts'

/** Adds the commands for recorded traffic: record, replay and eval. */
export const addTrafficCommands: AddCommands = (program, surroundings, finish) => {
  addRecord(program, surroundings, finish)
  addReplay(program, surroundings, finish)
  addEvaluate(program, surroundings, finish)
}

const addRecord: AddCommands = (program, surroundings, finish) => {
  addServeOptions(program.command('record'))
    .description('serve, and record what clients do (serve --record)')
    .argument('<file>', 'the file to append JSON lines to')
    .addHelpText('after', formatExamples('foldout record traffic.jsonl --config .mcp.json --http 8414'))
    .action(async (file: string, options: ServeOptions) => {
      const { serve } = await import('../gateway/serve.ts')
      finish(await serve({ ...options, record: file }, surroundings))
    })
}

const addReplay: AddCommands = (program, surroundings, finish) => {
  addServerOptions(program.command('replay'))
    .description('repeat recorded searches and compare the results')
    .argument('<file>', 'a file written by foldout serve --record')
    .option('--calls', 'also repeat calls of read-only tools')
    .addHelpText(
      'after',
      formatExamples('foldout replay traffic.jsonl', 'foldout replay traffic.jsonl --calls --config new.json --json'),
    )
    .action(async (file: string, options: ReplayOptions) => {
      const { replay } = await import('./replay.ts')
      finish(await replay(file, options, surroundings))
    })
}

const addEvaluate: AddCommands = (program, surroundings, finish) => {
  addServerOptions(program.command('eval'))
    .description('score the search on your own queries')
    .argument(
      '<queries>',
      'a file of queries, as a JSON list or JSON lines: {"query": "send a letter", "tools": ["mail/send"]}',
    )
    .option('--min-ndcg <score>', 'fail if nDCG@10 (0 to 1) is lower than this', readShare)
    .addHelpText(
      'after',
      formatExamples('foldout eval queries.jsonl', 'foldout eval queries.json --min-ndcg 0.8 --json'),
    )
    .action(async (queries: string, options: EvaluateOptions) => {
      const { evaluate } = await import('./evaluate.ts')
      finish(await evaluate(queries, options, surroundings))
    })
}
