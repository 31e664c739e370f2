import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { LanguageModel, ToolSet } from 'ai'

/** The parts of a provider package that the tests use. */
interface ProviderPackage {
  create(settings: ProviderSettings): Provider
}
interface ProviderSettings {
  readonly baseURL: string
  readonly apiKey: string
  readonly name?: string
  readonly includeUsage?: boolean
  readonly supportsStructuredOutputs?: boolean
}
interface Provider {
  (model: string): LanguageModel
  responses?(model: string): LanguageModel
  readonly tools?: Readonly<Record<string, (settings: object) => ToolSet[string]>>
}

const FOLDER = import.meta.dirname

/** Installs the provider packages beside this file if they are missing: nothing else needs them. */
export function installProviders(): void {
  if (existsSync(join(FOLDER, 'node_modules/@ai-sdk/anthropic/package.json'))) return
  const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']
  const { status, stderr } = spawnSync('npm', ['install', ...quiet], { cwd: FOLDER, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm install failed: ${stderr}`)
}

/** Loads one of the installed packages by its entry. */
export async function importProvider(path: string, factory: string): Promise<ProviderPackage> {
  const entry = pathToFileURL(join(FOLDER, 'node_modules', path)).href
  const loaded = (await import(entry)) as Readonly<Record<string, ProviderPackage['create'] | undefined>>
  const create = loaded[factory]
  if (create === undefined) throw new Error(`${path} has no ${factory}.`)
  return { create }
}
