import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { LanguageModel, ToolSet } from 'ai'
import { installPackages } from '../../tools/install-packages.ts'

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

/** Installs the provider packages in a test folder if they are missing. Nothing else needs them. */
export function installProviders(folder: string): void {
  installPackages(folder)
}

/** Loads one of the installed packages by its entry. */
export async function importProvider(folder: string, path: string, factory: string): Promise<ProviderPackage> {
  const entry = pathToFileURL(join(folder, 'node_modules', path)).href
  const loaded = (await import(entry)) as Readonly<Record<string, ProviderPackage['create'] | undefined>>
  const create = loaded[factory]
  if (create === undefined) throw new Error(`${path} has no ${factory}.`)
  return { create }
}
