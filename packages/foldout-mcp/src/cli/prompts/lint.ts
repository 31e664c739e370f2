import { findMissedWords, type MissedWords, type NeededFor, type SectionText } from 'foldout/disclosure'
import * as v from 'valibot'
import { UsageError } from '../../gateway/config/config.ts'
import { readTextFile, requireFile } from '../../gateway/config/text-file.ts'
import { describePrompt } from '../../inspector/prompt/source.ts'
import type { FoldFinding } from '../../inspector/protocol/protocol.ts'
import { createRunStore } from '../../inspector/runs/store.ts'
import type { RunModel } from '../../inspector/runs/model.ts'
import { list, looseObject, parse, string } from '../../shared/shapes.ts'
import { EXIT } from '../support/exit-codes.ts'
import { loadPrompt, toInspectedPrompt, type ValueOptions } from '../support/prompt-module.ts'
import type { Surroundings } from '../support/surroundings.ts'
import { formatSentences, toLine } from '../support/text.ts'

export interface LintOptions extends ValueOptions {
  /** A file with requests and what was needed for them: cases of a comparison, or runs of `recordRun()`. */
  readonly summaries?: string
  readonly json?: boolean
}

interface Findings {
  readonly folds: readonly FoldFinding[]
  readonly summaries: readonly MissedWords[]
  readonly tools: readonly MissedWords[]
}

/** `foldout lint <module>`: finds folds that do not pay, and summaries that do not say what people ask for. */
export async function lintPrompt(module: string, options: LintOptions, { stdout }: Surroundings): Promise<number> {
  const loaded = await loadPrompt(module, options)
  const { findings: folds } = describePrompt(toInspectedPrompt(loaded), { visibility: {} })
  const { texts } = loaded.bound.render().view
  const requests = options.summaries === undefined ? [] : await readRequests(options.summaries, texts)
  const found: Findings = {
    folds,
    summaries: findMissedWords(texts.flatMap(describeSection), requests),
    tools: findMissedWords(
      texts.flatMap(({ tools }) => tools.map(({ name, description }) => ({ name, text: `${name} ${description}` }))),
      requests,
    ),
  }
  stdout.write(
    options.json ? `${JSON.stringify({ requests: requests.length, ...found }, null, 2)}\n` : format(found, stdout),
  )
  if (Object.values(found).every((list) => list.length === 0)) return EXIT.done
  return EXIT.failed
}

function describeSection({ path, title, summary }: SectionText) {
  if (summary === undefined) return []
  return [{ name: path, text: `${title}\n${summary}` }]
}

function format({ folds, summaries, tools }: Findings, stdout: Surroundings['stdout']): string {
  const describe =
    (what: string) =>
    ({ name, needed, missed, words }: MissedWords): string => {
      const said = words.length === 0 ? '' : ` They say: ${words.join(', ')}.`
      return toLine(`${what} ${name} shares no word with ${missed} of ${needed} requests that needed it.${said}`)
    }
  const lines = [
    ...folds.map(({ message }) => toLine(message)),
    ...summaries.map(describe('The summary of')),
    ...tools.map(describe('The description of the tool')),
  ]
  if (lines.length === 0) return 'Nothing to change.\n'
  return lines.map((line) => formatSentences([line], stdout)).join('')
}

/** Reads what users asked for, and which sections and tools that needed. */
async function readRequests(file: string, texts: readonly SectionText[]): Promise<readonly NeededFor[]> {
  await requireFile(file)
  const sections = new Map(texts.flatMap(({ path, tools }) => tools.map(({ name }) => [name, path] as const)))
  const store = createRunStore()
  await store.follow(file)
  store.close()
  const withTexts = store.runs.filter(({ hasTexts }) => hasTexts)
  if (withTexts.length > 0) return withTexts.map((run) => toRequest(run, sections))
  if (store.runs.length > 0)
    throw new UsageError(`${file} was recorded without texts. Record runs with recordRun() of foldout/node.`)
  return readCases(file, sections)
}

/** A run needed what its model opened, and what it called with success. */
function toRequest(run: RunModel, sections: ReadonlyMap<string, string>): NeededFor {
  const called = run.messages.flatMap(({ role, name, isBad }) => (role === 'tool' && !isBad ? [name] : []))
  const opened = run.openings.flatMap(({ keys, answer, isUsed }) => (answer === 'none' || isUsed === false ? [] : keys))
  const used = called.flatMap((name) => sections.get(name) ?? [])
  return { text: run.summary.input, needs: [...called, ...opened, ...used] }
}

const caseSchema = looseObject({
  id: string,
  input: v.exactOptional(string),
  turns: v.exactOptional(list(string)),
  user: v.exactOptional(string),
  needs: v.exactOptional(list(string)),
  calls: v.exactOptional(list(looseObject({ name: string }))),
})

/** Reads cases of a comparison: one to a line, as JSON. */
async function readCases(file: string, sections: ReadonlyMap<string, string>): Promise<readonly NeededFor[]> {
  const lines = (await readTextFile(file)).split('\n')
  const requests = lines.flatMap((line, at): readonly NeededFor[] => {
    if (line.trim() === '') return []
    const { input, user, turns = [], needs = [], calls = [] } = readCase(line, `Line ${at + 1} of ${file}`)
    const names = calls.map(({ name }) => name)
    const used = names.flatMap((name) => sections.get(name) ?? [])
    return [{ text: [input ?? user ?? '', ...turns].join('\n'), needs: [...needs, ...names, ...used] }]
  })
  if (requests.length === 0) throw new UsageError(`${file} has no cases and no runs. ${HOW}`)
  return requests
}

const HOW =
  'Pass cases, such as {"id": "17", "input": "Refund order 17.", "needs": ["refunds"]}, or runs of recordRun().'

function readCase(line: string, where: string): v.InferOutput<typeof caseSchema> {
  try {
    return parse(caseSchema, JSON.parse(line))
  } catch (error) {
    throw new UsageError(`${where} is not a case: ${(error as Error).message} ${HOW}`)
  }
}
