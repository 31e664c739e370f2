import { isObject } from 'foldout-shared/values'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as foldout from 'foldout'
import type { BoundPrompt, DisclosureStrategy } from 'foldout'
import type * as compare from 'foldout/compare'
import type * as node from 'foldout/node'
import type * as telemetry from 'foldout/telemetry'
import { UsageError } from '../../gateway/config/config.ts'
import { describeLoadFailure } from '../../gateway/config/load-failure.ts'
import { requireFile } from '../../gateway/config/text-file.ts'
import { runUserCode } from '../../gateway/config/user-code.ts'
import type { InspectedPrompt } from '../../inspector/prompt/source.ts'
import type { StrategyName } from '../../inspector/protocol/protocol.ts'
import { dropUndefined } from 'foldout-shared/values'
import { readJsonObject } from './options.ts'
import { toLine } from './text.ts'

type Library = Pick<typeof foldout, 'bySearch' | 'contextFiles' | 'openOrRead' | 'openSections' | 'readSection'>
type Telemetry = Pick<typeof telemetry, 'advise' | 'createRecorder' | 'measurePrompt' | 'simulate' | 'tune'>
export type CompareLibrary = Pick<typeof compare, 'compare' | 'formatComparison' | 'planComparison'>
type NodeLibrary = Pick<typeof node, 'createOverrideStore'>

/** A module's prompt, and the copy of the library it was made with: our own copy would not recognize it. */
export interface LoadedPrompt {
  readonly bound: BoundPrompt
  readonly library: Library
  readonly telemetry: Telemetry
  readonly node: NodeLibrary
  /** Everything that the module exports. */
  readonly exports: Readonly<Record<string, unknown>>
  loadCompare(): Promise<CompareLibrary>
}

export interface ValueOptions {
  /** Values for the prompt, as JSON. */
  readonly values?: string
}

/** A module of the user's. */
export interface LoadedModule {
  readonly exports: Readonly<Record<string, unknown>>
  /** The name after `#`; undefined if there is none. */
  readonly name: string | undefined
  readonly file: string
  /** Loads an entry of the library as the module would, or our own. */
  loadLibrary<Module>(entry: string, own: () => Promise<Module>): Promise<Module>
}

/** Loads the module `file` or `file#name`. */
export async function loadModule(reference: string): Promise<LoadedModule> {
  const { file, name } = splitReference(reference)
  const path = resolve(file)
  await requireFile(file)
  const { createJiti } = await import('jiti')
  const jiti = createJiti(pathToFileURL(path).href, { moduleCache: true })
  const load = (): Promise<Readonly<Record<string, unknown>>> => jiti.import(path)
  const exports = await runUserCode(load).catch((error: unknown) => {
    throw new UsageError(`${file} cannot be loaded. ${describeLoadFailure(path, error)}`, { cause: error })
  })
  return { exports, name, file, loadLibrary: (entry, own) => jiti.import<never>(entry).catch(own) }
}

/** Loads the prompt from `file` or `file#name`, and binds it. */
export async function loadPrompt(reference: string, { values }: ValueOptions): Promise<LoadedPrompt> {
  const module = await loadModule(reference)
  const { exports, loadLibrary } = module
  return {
    exports,
    bound: bind(findPrompt(exports, module), values, reference),
    library: await loadLibrary<Library>('foldout', () => import('foldout')),
    telemetry: await loadLibrary<Telemetry>('foldout/telemetry', () => import('foldout/telemetry')),
    node: await loadLibrary<NodeLibrary>('foldout/node', () => import('foldout/node')),
    loadCompare: () => loadLibrary<CompareLibrary>('foldout/compare', () => import('foldout/compare')),
  }
}

/** The part after the last `#` names an export, unless a file with the whole name exists. */
function splitReference(reference: string): { readonly file: string; readonly name: string | undefined } {
  const at = reference.lastIndexOf('#')
  if (at === -1 || existsSync(reference)) return { file: reference, name: undefined }
  return { file: reference.slice(0, at), name: reference.slice(at + 1) }
}

interface Unbound {
  bind(values?: object): BoundPrompt
}

type AnyPrompt = BoundPrompt | Unbound

function isBound(value: unknown): value is BoundPrompt {
  return isObject(value) && typeof value['render'] === 'function' && isObject(value['prompt'])
}

function isPrompt(value: unknown): value is AnyPrompt {
  return isBound(value) || (isObject(value) && typeof value['bind'] === 'function' && typeof value['ns'] === 'string')
}

/** Finds the named export. Without a name: the default export, or the only prompt, preferring bound ones. */
function findPrompt(
  exports: Readonly<Record<string, unknown>>,
  { file, name }: { readonly file: string; readonly name: string | undefined },
): AnyPrompt {
  const entries = Object.entries(exports).filter(([, value]) => isPrompt(value))
  const names = entries.map(([each]) => each)
  const list = names.length === 0 ? 'It exports no prompt.' : `Its prompts are: ${names.join(', ')}.`
  if (name !== undefined) {
    const value = Object.hasOwn(exports, name) ? exports[name] : undefined
    if (isPrompt(value)) return value
    throw new UsageError(`${file} has no prompt '${toLine(name)}'. ${list}`)
  }
  if (isPrompt(exports['default'])) return exports['default']
  const bound = entries.filter(([, value]) => isBound(value))
  const [first, second] = bound.length > 0 ? bound : entries
  if (first && !second && isPrompt(first[1])) return first[1]
  if (!first) throw new UsageError(`${file} exports no prompt. Export one: export default prompt.bind({ … })`)
  throw new UsageError(`${file} has several prompts. Name one, such as ${file}#${first[0]}. ${list}`)
}

function bind(prompt: AnyPrompt, json: string | undefined, reference: string): BoundPrompt {
  const values = readJsonObject('--values', json)
  try {
    const unbound: Unbound = prompt
    const bound = isBound(prompt) && json === undefined ? prompt : unbound.bind(values)
    // A missing value is noticed only when its section is rendered.
    bound.render()
    return bound
  } catch (error) {
    throw new UsageError(`${reference}: ${(error as Error).message} Pass values with --values <json>.`)
  }
}

/** The prompt as the inspector reads it. */
export function toInspectedPrompt({ bound, library, telemetry }: LoadedPrompt): InspectedPrompt {
  return {
    bound,
    createStrategy: (name) => createStrategy(name, library),
    measure: (disclosure) => telemetry.measurePrompt(bound, dropUndefined({ disclosure })),
  }
}

export function createStrategy(name: StrategyName, library: Library): DisclosureStrategy {
  if (name === 'read-section') return library.readSection()
  if (name === 'open-sections') return library.openSections()
  if (name === 'open-or-read') return library.openOrRead()
  return library.contextFiles()
}
