import type { BoundPrompt } from 'foldout'
import type { CompareArm, CompareOptions, Grader } from 'foldout/compare'
import { UsageError } from '../../gateway/config/config.ts'
import { STRATEGIES, type StrategyName } from '../../inspector/protocol/protocol.ts'
import { isObject } from 'foldout-shared/values'
import { createStrategy, loadModule, type LoadedModule, type LoadedPrompt } from '../support/prompt-module.ts'
import { toLine } from '../support/text.ts'

export type Arms = CompareOptions['arms']

const isFunction = (value: unknown): boolean => typeof value === 'function'

/** The arms that `--arms` names: ways to show the prompt, and what its module exports as `arms`. */
export function choosePromptArms(names: readonly string[], { bound, library, exports }: LoadedPrompt): Arms {
  const own = isObject(exports['arms']) ? exports['arms'] : {}
  const known: Record<string, () => CompareArm> = {
    full: () => ({ prompt: bound, open: 'all' }),
    folded: () => ({ prompt: bound }),
    ahead: () => ({ prompt: bound, open: library.bySearch({ max: 1 }) }),
    ...Object.fromEntries(STRATEGIES.map((name) => [name, () => toStrategyArm(name, bound, library)])),
    ...Object.fromEntries(Object.entries(own).map(([name, arm]) => [name, () => checkArm(arm, name, bound)])),
  }
  return nameArms(names, known, 'Arms of your own are what the module exports as arms.')
}

function toStrategyArm(name: StrategyName, prompt: BoundPrompt, library: LoadedPrompt['library']): CompareArm {
  return { prompt, disclosure: createStrategy(name, library) }
}

function checkArm(arm: unknown, name: string, prompt: BoundPrompt): CompareArm {
  if (isObject(arm)) return { prompt, ...arm }
  throw new UsageError(`The arm '${toLine(name)}' is not an object. Export arms such as { short: { prompt: short } }.`)
}

/** Two arms with one name show how much is noise: the second is called `full 2`. */
export function nameArms(
  names: readonly string[],
  known: Readonly<Record<string, () => CompareArm>>,
  hint: string,
): Arms {
  const arms = new Map<string, CompareArm>()
  for (const name of names) {
    const create = Object.hasOwn(known, name) ? known[name] : undefined
    if (!create)
      throw new UsageError(`There is no arm '${toLine(name)}'. Arms: ${Object.keys(known).join(', ')}. ${hint}`)
    let free = name
    for (let i = 2; arms.has(free); i++) free = `${name} ${i}`
    arms.set(free, create())
  }
  if (arms.size < 2) throw new UsageError('Name two arms or more, such as --arms full,folded.')
  return Object.fromEntries(arms)
}

/** The model: what `--adapter` names, or what the prompt's module exports as `adapter`. */
export async function findAdapter(
  reference: string | undefined,
  exports: Readonly<Record<string, unknown>>,
): Promise<CompareOptions['adapter']> {
  const given = reference === undefined ? exports['adapter'] : pick(await loadModule(reference), 'adapter')
  if (isFunction(given)) return given as NonNullable<CompareOptions['adapter']>
  if (isObject(given) && isFunction(given['evaluate'])) return () => given as never
  throw new UsageError(
    reference === undefined
      ? 'There is no model. Export one as adapter, such as export const adapter = () => anthropic({ model }), or name a module with --adapter <module>.'
      : `${reference} exports no adapter. Export one, such as export const adapter = () => anthropic({ model }).`,
  )
}

/** The graders: the functions that a module exports, or the only one as `grade`. */
export async function findGraders(reference: string | undefined): Promise<CompareOptions['grade']> {
  if (reference === undefined) return undefined
  const module = await loadModule(reference)
  const chosen = module.name === undefined ? (module.exports['default'] ?? module.exports) : pick(module, module.name)
  if (isFunction(chosen)) return { grade: chosen as Grader }
  const all = isObject(chosen) ? Object.entries(chosen).filter(([, value]) => isFunction(value)) : []
  if (all.length > 0) return Object.fromEntries(all) as Readonly<Record<string, Grader>>
  throw new UsageError(
    `${module.file} exports no function that grades. Export one: export default ({ text }) => text.includes('Done')`,
  )
}

function pick({ exports, name }: LoadedModule, usual: string): unknown {
  return exports[name ?? usual] ?? (name === undefined ? exports['default'] : undefined)
}
