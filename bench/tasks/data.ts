import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

/** A tool of a task set. */
export interface TaskTool {
  readonly name: string
  readonly description: string
  readonly parameters: Readonly<Record<string, unknown>>
  readonly write?: boolean
}

/** A call that solves a task: by whom (1: the agent), the tool, and the tokens of its arguments and its result. */
export type TaskAction = readonly [agent: number, name: string, argumentsTokens: number, resultTokens: number]

interface PolicyTask {
  readonly id: string
  readonly said: string
  readonly actions: readonly TaskAction[]
}

export interface PolicyDomain {
  readonly policy: readonly string[]
  readonly tools: readonly TaskTool[]
  readonly tasks: readonly PolicyTask[]
}

export interface BankingSet {
  readonly policy: readonly string[]
  readonly docs: readonly { readonly id: string; readonly title: string; readonly text: string }[]
  readonly tools: readonly TaskTool[]
  readonly hidden: readonly TaskTool[]
  readonly tasks: readonly (PolicyTask & { readonly docs: readonly string[] })[]
}

export interface ApiSet {
  readonly apis: Readonly<Record<string, readonly TaskTool[]>>
  readonly tasks: readonly {
    readonly id: string
    readonly turns: readonly string[]
    /** For each turn, the calls that it needs, as Python. */
    readonly gold: readonly (readonly string[])[]
  }[]
}

export interface TaskData {
  readonly policies: Readonly<Record<string, PolicyDomain>>
  readonly banking: BankingSet | undefined
  readonly apis: ApiSet | undefined
}

/** Reads the task sets that a folder has. */
export function loadTasks(folder: string): TaskData {
  const read = (name: string): unknown => {
    const file = join(folder, `${name}.json.gz`)
    return existsSync(file) ? JSON.parse(gunzipSync(readFileSync(file)).toString('utf8')) : undefined
  }
  const policies = read('tau2-policies') as { readonly domains: TaskData['policies'] } | undefined
  return {
    policies: policies?.domains ?? {},
    banking: read('tau2-banking') as BankingSet | undefined,
    apis: read('bfcl-multi-turn') as ApiSet | undefined,
  }
}
