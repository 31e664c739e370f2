import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { installPackages } from '../../tools/install-packages.ts'
import { compile } from '../docs/snippets.ts'
import { createTemporaryFolder } from '../temporary-folder.ts'

const folder = import.meta.dirname
installPackages(folder)

const results = createTemporaryFolder('foldout-evals-')

/** Runs a program in this folder that writes its results to a file, and returns them. */
function run(name: string, toArguments: (output: string) => readonly string[]): unknown {
  const output = join(results, `${name}.json`)
  // A vitest inside a vitest has to begin as if there were no other.
  const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !key.startsWith('VITEST')))
  const { stdout, stderr } = spawnSync(process.execPath, toArguments(output), { cwd: folder, env, encoding: 'utf8' })
  try {
    return JSON.parse(readFileSync(output, 'utf8'))
  } catch (error) {
    throw new Error(`${name} has no results.\n${stdout}\n${stderr}`, { cause: error })
  }
}

interface VitestResults {
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly fullName: string
      readonly status: string
      readonly meta: {
        readonly eval: { readonly avgScore: number; readonly output: string; readonly toolCalls: readonly object[] }
        readonly harness: {
          readonly run: { readonly usage: { readonly inputTokens: number }; readonly artifacts: object }
        }
      }
    }[]
  }[]
}

interface EvaliteResults {
  readonly evals: readonly {
    readonly name: string
    readonly averageScore: number
    readonly results: readonly {
      readonly input: { readonly id: string }
      readonly averageScore: number
      readonly output: { readonly text: string; readonly usage: { readonly inputTokens: number } }
      readonly renderedColumns: readonly { readonly label: string; readonly value: unknown }[]
      readonly scores: readonly { readonly name: string; readonly score: number; readonly metadata: object }[]
    }[]
  }[]
}

describe('bridges to other evaluations', () => {
  it('R80 have the types that vitest-evals and evalite expect', () => {
    expect(compile('test/evals/types')).toBe('')
  })

  it('R80 vitest-evals runs arms, judges them by their grades, and reports openings and usage', () => {
    const cli = join(folder, 'node_modules/vitest/vitest.mjs')
    const { testResults } = run('vitest-evals', (output) => [
      cli,
      'run',
      '--reporter=json',
      `--outputFile.json=${output}`,
    ]) as VitestResults
    const tests = testResults.flatMap(({ assertionResults }) => assertionResults)
    expect(tests.map(({ fullName, status }) => [fullName, status])).toEqual([
      ["full 'refund'", 'passed'],
      ["full 'hours'", 'passed'],
      ["folded 'refund'", 'passed'],
      ["folded 'hours'", 'failed'],
    ])
    const [full, , folded, missed] = tests.map(({ meta }) => meta)
    expect(folded?.eval).toMatchObject({
      avgScore: 1,
      output: 'It is refunded.',
      toolCalls: [{ name: 'refund_order', arguments: {}, status: 'ok' }],
    })
    expect(full?.harness.run.artifacts).toMatchObject({ openings: { opened: [], missed: [] }, grades: { calls: 1 } })
    expect(folded?.harness.run.artifacts).toMatchObject({
      openings: { opened: ['refunds'], ahead: [], missed: [] },
      costUsd: expect.any(Number) as number,
    })
    expect(missed?.harness.run.artifacts).toMatchObject({ openings: { missed: ['hours'] }, grades: { includes: 0 } })
    // The scripted model counts what it is sent: opening takes one request more.
    expect(folded?.harness.run.usage.inputTokens).toBeGreaterThan(full?.harness.run.usage.inputTokens ?? 0)
  })

  it('R80 evalite runs arms as tasks, with their grades as scores and their openings as columns', () => {
    const { evals } = run('evalite', (output) => ['run-evalite.mjs', output]) as EvaliteResults
    const scores = Object.fromEntries(evals.map(({ name, averageScore }) => [name, averageScore]))
    expect(scores).toEqual({ full: 1, folded: 0.5 })
    const folded = evals.find(({ name }) => name === 'folded')?.results ?? []
    const refund = folded.find(({ input }) => input.id === 'refund')
    const hours = folded.find(({ input }) => input.id === 'hours')
    expect(refund?.output).toMatchObject({
      text: 'It is refunded.',
      usage: { outputTokens: expect.any(Number) as number },
    })
    expect(refund?.renderedColumns).toContainEqual({ label: 'Opened', value: 'refunds' })
    expect(hours?.renderedColumns).toContainEqual({ label: 'Missed', value: 'hours' })
    expect(hours?.scores).toMatchObject([{ name: 'graded', score: 0, metadata: { grades: { includes: 0 } } }])
  })
})
