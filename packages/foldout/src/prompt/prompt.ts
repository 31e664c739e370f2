import { PromptValidationError } from '../core/errors.ts'
import { checkPrice, type FoldPrice } from '../core/price/fold.ts'
import type { JsonSchema, ToolSchema } from '../core/schema/schema.ts'
import { KEY_PATTERN } from '../core/text.ts'
import { estimatedTokens, type TokenCounter } from '../core/tokens/tokens.ts'
import { readSection } from '../disclosure/strategies/read-section.ts'
import type { DisclosureStrategy } from '../disclosure/strategy.ts'
import { DISCLOSURE_TOOL_NAMES } from '../disclosure/tools.ts'
import type { SessionReader } from '../session/session.ts'
import type { Visibility, VisibilityOverrides } from '../session/visibility.ts'
import { checkBudget, type TokenBudget } from './render/budget.ts'
import { describePrompt, type PromptDescriptor } from './overrides/descriptor.ts'
import { outputSpec, type OutputSpec, type OutputValue } from './definition/output.ts'
import { applyOverrides, type AppliedOverrides, type PromptOverrides } from './overrides/overrides.ts'
import { createRegistry, formatNumberedHeading, type Heading, type Registry } from './definition/registry.ts'
import { createRenderedPrompt, once, type RenderedPrompt } from './render/rendered-prompt.ts'
import { Renderer } from './render/renderer.ts'
import { viewSections, type SectionsView } from './render/sections-view.ts'
import type { AnySection, KeysOf, NeedsOf } from './definition/section.ts'
import { bindValues, type BoundValues, type FlatValues } from './definition/values.ts'

type Flat<T> = { [K in keyof T]: T[K] } & {}

/**
 * A compiler message, never a value: two sections declare one value with different types.
 *
 * @example
 * ```ts
 * const one = defineSection({ key: 'one', title: 'One', params: z.object({ day: z.string() }), template: md`${'day'}` })
 * const two = defineSection({ key: 'two', title: 'Two', params: z.object({ day: z.number() }), template: md`${'day'}` })
 * // @ts-expect-error ConflictingValue<'day'>
 * definePrompt({ ns: 'shop', key: 'clerk', sections: [one, two] })
 * ```
 */
export interface ConflictingValue<Name> {
  readonly '~conflicting': Name
}
type Conflicts<Needs> = { [K in keyof Needs]-?: [Needs[K]] extends [never] ? K : never }[keyof Needs]
/** Two sections that share a value must agree on its type. */
type CheckedSections<S extends readonly AnySection[]> = [NeedsOf<S>] extends [never]
  ? ConflictingValue<string>
  : [Conflicts<NeedsOf<S>>] extends [never]
    ? S
    : ConflictingValue<Conflicts<NeedsOf<S>>>

/**
 * Options of {@link definePrompt}.
 *
 * @example
 * ```ts
 * const prompt = definePrompt({
 *   ns: 'shop',
 *   key: 'clerk',
 *   sections: [role, refunds],
 *   output: z.object({ answer: z.string() }),
 *   budget: { tokens: 4_000 },
 * } satisfies PromptOptions<[typeof role, typeof refunds], ToolSchema>)
 * ```
 */
export interface PromptOptions<S extends readonly AnySection[], Output extends ToolSchema | JsonSchema | undefined> {
  /** The namespace of the prompt: keys joined by `/`, such as `agents/support`. */
  readonly ns: string
  /** The name of the prompt within its namespace. */
  readonly key: string
  /** A display name for people. Default: the key. */
  readonly name?: string
  readonly sections: S & CheckedSections<NoInfer<S>>
  /** The form of the model's answer: the schema of an object or an array. */
  readonly output?: Output
  /** The strategy that tells the model how to open folded sections. Default `readSection()`. */
  readonly disclosure?: DisclosureStrategy
  /** The token counter. Default: a quick estimate. */
  readonly counter?: TokenCounter
  /** A token budget. Sections are folded, least important first, until the prompt fits. */
  readonly budget?: TokenBudget
  /** Formats the heading of a section. Default: `## 1.2 Title`, with more `#` for deeper sections. */
  readonly heading?: Heading
}

/**
 * The members that all prompts have, whatever their types.
 *
 * @example
 * ```ts
 * const format = ({ ns, key }: AnyPrompt): string => `${ns}/${key}`
 * format(prompt) // => 'support/agent'
 * ```
 */
export interface AnyPrompt {
  readonly ns: string
  readonly key: string
  readonly name: string
  /** Hashes of the source texts, for overrides. */
  readonly descriptor: PromptDescriptor
}

/** Parses the answers to a prompt; present if the prompt has an output. */
type SpecFor<Output> = Output extends undefined ? undefined : OutputSpec<OutputValue<Output>>

/**
 * A prompt whose values are not bound yet.
 *
 * @example
 * ```ts
 * const greeting = defineSection({ key: 'greeting', title: 'Greeting', template: md`Greet ${'customer'}.` })
 * const prompt: Prompt<{ readonly customer: string }> = definePrompt({ ns: 'shop', key: 'clerk', sections: [greeting] })
 * prompt.bind({ customer: 'Ada' }).render().text.endsWith('Greet Ada.') // => true
 * ```
 */
export interface Prompt<
  Params = never,
  Keys extends string = string,
  Output = unknown,
  Spec = OutputSpec<Output> | undefined,
> extends AnyPrompt {
  /** Binds the prompt's values, given as one flat object. Sections that use the same name share the value. */
  bind(...args: {} extends Params ? [values?: Params] : [values: Params]): BoundPrompt<Params, Keys, Output, Spec>
}

/**
 * A prompt with its values, which can be rendered and run.
 *
 * @example
 * ```ts
 * const bound: BoundPrompt = prompt.bind()
 * bound.render().tools.map(({ name }) => name) // => [ 'look', 'read_section' ]
 * const { text } = await runAgent(bound, { adapter, input: 'Where is my parcel?' })
 * ```
 */
export interface BoundPrompt<
  Params = never,
  Keys extends string = string,
  Output = unknown,
  Spec = OutputSpec<Output> | undefined,
> {
  readonly prompt: AnyPrompt
  /** Returns the same prompt with some values replaced. */
  bind(values: Partial<Params>): BoundPrompt<Params, Keys, Output, Spec>
  /** Renders the prompt as the model sees it, with the sections open that were opened in the session. */
  render(options?: RenderOptions<Keys>): RenderedPrompt<Keys, Output, Spec>
}

/**
 * Options of {@link BoundPrompt.render}.
 *
 * @example
 * ```ts
 * const options: RenderOptions = { visibility: { refunds: 'full' }, disclosure: openSections() }
 * bound.render(options).summarized // => [ 'guide' ]
 * ```
 */
export interface RenderOptions<Keys extends string = string> {
  /** The session that decides which sections are open, and that selectors read. */
  readonly session?: SessionReader
  /** The visibility of sections by path. The session takes precedence. */
  readonly visibility?: { readonly [K in Keys]?: Visibility }
  /** Texts that replace those of the source. */
  readonly overrides?: PromptOverrides
  /** A strategy to use instead of the prompt's own. */
  readonly disclosure?: DisclosureStrategy
  readonly counter?: TokenCounter
  readonly budget?: TokenBudget
  /** What decides about sections with `visibility: 'auto'`. `runAgent` takes it from the adapter and `perHour`. */
  readonly price?: FoldPrice
  /** The deadline of the run, passed on to tools and adapters. */
  readonly deadline?: Date
  /**
   * Whether calls of `ask_section` are answered. If not, sections with a `delegate` are opened like others. `runAgent`
   * answers them. Default false.
   */
  readonly delegation?: boolean
}

/**
 * Defines a prompt: a tree of sections that can be folded. Everything that depends only on the definition is computed once.
 *
 * @example
 * ```ts
 * const greeting = defineSection({ key: 'greeting', title: 'Greeting', template: 'Greet ${customer} by name.' })
 * const prompt = definePrompt({ ns: 'agents', key: 'support', sections: [greeting, refunds] })
 * const { text, tools } = prompt.bind({ customer: 'Ada' }).render()
 * ```
 */
export function definePrompt<
  const S extends readonly AnySection[],
  Output extends ToolSchema | JsonSchema | undefined = undefined,
>(
  options: PromptOptions<S, Output>,
): Prompt<Flat<NeedsOf<S>>, KeysOf<S>, Output extends undefined ? undefined : OutputValue<Output>, SpecFor<Output>> {
  const { ns, key, name = key } = options
  if (!ns.split('/').every((segment) => KEY_PATTERN.test(segment))) {
    throw new PromptValidationError(
      `'${ns}' cannot be the ns of a prompt. Use keys of lowercase letters, digits, hyphens and underscores, joined by '/'.`,
    )
  }
  if (!KEY_PATTERN.test(key)) {
    throw new PromptValidationError(
      `'${key}' cannot be the key of a prompt. Use 1 to 64 lowercase letters, digits, hyphens and underscores.`,
    )
  }
  const reserved = [...new Set([...DISCLOSURE_TOOL_NAMES, ...(options.disclosure?.toolNames ?? [])])]
  const registry = createRegistry(options.sections, options.heading ?? formatNumberedHeading, reserved)
  checkBudget(options.budget, 'prompt-invalid')
  const descriptor = once(() => describePrompt(ns, key, registry))
  const prompt: Prompt<FlatValues> = Object.freeze({
    ns,
    key,
    name,
    get descriptor() {
      return descriptor()
    },
    bind: (values: FlatValues = {}) => bindPrompt(definition, { ...values }),
  })
  const definition: Definition = {
    prompt,
    registry,
    output: options.output === undefined ? undefined : outputSpec(options.output),
    disclosure: options.disclosure ?? readSection(),
    counter: options.counter ?? estimatedTokens,
    budget: options.budget,
    heading: options.heading ?? formatNumberedHeading,
    reserved,
  }
  definitions.set(prompt, definition)
  return prompt as never
}

interface Definition {
  readonly prompt: AnyPrompt
  readonly registry: Registry
  readonly output: OutputSpec<unknown> | undefined
  readonly disclosure: DisclosureStrategy
  readonly counter: TokenCounter
  readonly budget: TokenBudget | undefined
  readonly heading: Heading
  readonly reserved: readonly string[]
  /** For a part of a prompt: the whole, and where the part is in it. */
  readonly whole?: { readonly definition: Definition; readonly path: string }
}

const definitions = new WeakMap<AnyPrompt, Definition>()

/** Returns the definition of a prompt made by `definePrompt`. */
export function getRegistry(prompt: AnyPrompt): Registry {
  const definition = definitions.get(prompt)
  if (!definition) throw new PromptValidationError('This is not a prompt. Create one with definePrompt().')
  return definition.registry
}

/** Returns the token counter of a prompt. */
export function getCounter(prompt: AnyPrompt): TokenCounter {
  return definitions.get(prompt)?.counter ?? estimatedTokens
}

function bindPrompt(definition: Definition, flat: FlatValues): BoundPrompt<FlatValues> {
  const values = bindValues(definition.registry, flat, { isPart: definition.whole !== undefined })
  // The next render starts from the last one.
  let last: SectionsView | undefined
  const bound: BoundPrompt<FlatValues> = Object.freeze({
    prompt: definition.prompt,
    bind: (more: FlatValues) => bindPrompt(definition, { ...flat, ...more }),
    render(options: RenderOptions = {}) {
      checkBudget(options.budget, 'prompt-render')
      checkPrice(options.price ?? NO_PRICE)
      const renderer = rendererFor(definition, values, options, last?.renderer)
      const request = {
        asked: options.visibility ? withoutUndefined(options.visibility) : NOTHING_ASKED,
        budget: options.budget ?? definition.budget,
        price: options.price ?? NO_PRICE,
      }
      const earlier = last?.renderer === renderer ? last : undefined
      const view = (last = viewSections(renderer, request, { session: options.session, earlier }))
      if (view.sections.canOpen()) renderer.options.strategy.check?.(view)
      return createRenderedPrompt({
        view,
        output: definition.output,
        descriptor: () => definition.prompt.descriptor,
        deadline: options.deadline,
      }) as never
    },
  })
  bindings.set(bound, { definition, flat })
  return bound
}

const bindings = new WeakMap<object, { readonly definition: Definition; readonly flat: FlatValues }>()

/**
 * Makes a prompt of one section of another, open, behind a first section that says what to do with it. It has the same
 * values and overrides. Returns undefined for a prompt from elsewhere, or without such a section.
 */
export function createPart(
  bound: Pick<BoundPrompt, 'render'>,
  path: string,
  task: AnySection,
): BoundPrompt<FlatValues> | undefined {
  const known = bindings.get(bound)
  const slot = known?.definition.registry.byPath.get(path)
  if (!known || !slot) return undefined
  const { definition, flat } = known
  // The section is open, whatever its definition says, and the agent that answers does not ask itself.
  const section: AnySection = Object.freeze({ ...slot.section, visibility: 'full' as const, delegate: false })
  const registry = createRegistry([task, section], definition.heading, definition.reserved)
  const { ns, key } = definition.prompt
  const partKey = `${key}.${path}`
  const descriptor = once(() => describePrompt(ns, partKey, registry))
  const prompt: AnyPrompt = Object.freeze({
    ns,
    key: partKey,
    name: section.title,
    get descriptor() {
      return descriptor()
    },
  })
  const part: Definition = {
    ...definition,
    prompt,
    registry,
    output: undefined,
    budget: undefined,
    whole: { definition, path },
  }
  definitions.set(prompt, part)
  return bindPrompt(part, flat)
}

const NO_PRICE: FoldPrice = Object.freeze({})
const NOTHING_ASKED: VisibilityOverrides = Object.freeze({})

function withoutUndefined(asked: Readonly<Record<string, Visibility | undefined>>): VisibilityOverrides {
  return Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined)) as VisibilityOverrides
}

/** Returns the last renderer if its options are the same, or creates a new one. */
function rendererFor(
  definition: Definition,
  values: BoundValues,
  options: RenderOptions,
  last: Renderer | undefined,
): Renderer {
  const strategy = options.disclosure ?? definition.disclosure
  const counter = options.counter ?? definition.counter
  const overrides = options.overrides && getAppliedOverrides(definition, options.overrides)
  const { delegation = false } = options
  const isAlike =
    last?.options.strategy === strategy &&
    last.options.counter === counter &&
    last.options.overrides === overrides &&
    last.options.delegation === delegation
  if (isAlike) return last
  return new Renderer({ registry: definition.registry, values, strategy, counter, overrides, delegation })
}

const applied = new WeakMap<PromptOverrides, WeakMap<Definition, AppliedOverrides>>()

/** Checks and parses overrides once for each prompt. */
function getAppliedOverrides(definition: Definition, overrides: PromptOverrides): AppliedOverrides {
  let byDefinition = applied.get(overrides)
  if (!byDefinition) applied.set(overrides, (byDefinition = new WeakMap()))
  let result = byDefinition.get(definition)
  const { whole, registry } = definition
  if (!result) {
    if (whole) result = moveOverrides(getAppliedOverrides(whole.definition, overrides), whole.path)
    else result = applyOverrides(overrides, registry)
    byDefinition.set(definition, result)
  }
  return result
}

/** Returns the overrides of a section and what is in it, by their paths in a prompt that begins with it. */
function moveOverrides({ sections, tools, core }: AppliedOverrides, path: string): AppliedOverrides {
  const start = path.lastIndexOf('.') + 1
  const isInside = (each: string): boolean => `${each}.`.startsWith(`${path}.`)
  const listed = [...core].filter(([, tool]) => isInside(tool.path))
  const moved = [...sections]
    .filter(([each]) => isInside(each))
    .map(([each, texts]) => {
      // It is folded for others, and open for the agent that answers.
      const own = each === path ? { ...texts, visibility: undefined } : texts
      return [each.slice(start), own] as const
    })
  const ownCore = listed.map(([name, tool]) => [name, { ...tool, path: tool.path.slice(start) }] as const)
  return { sections: new Map(moved), tools, core: new Map(ownCore), ignored: [] }
}
