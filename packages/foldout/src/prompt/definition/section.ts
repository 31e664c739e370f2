import { describeGiven } from '../../core/check-number.ts'
import { PromptValidationError } from '../../core/errors.ts'
import { isStandardSchema, type InputOf, type OutputOf, type StandardSchemaV1 } from '../../core/schema/schema.ts'
import { parseTemplate, type CheckedTemplate, type InferredParams, type Template } from '../../core/template.ts'
import { KEY_PATTERN } from '../../core/text.ts'
import type { Session, SessionReader } from '../../session/session.ts'
import { isVisibility, type Visibility } from '../../session/visibility.ts'
import type { AnyTool, ToolGroup } from '../../tools/tool.ts'
import { MAX_LIST_CHARACTERS } from './limits.ts'

/**
 * The context that selectors and custom renderers receive along with the section's params.
 *
 * @example
 * ```ts
 * const hasItems = (_params: unknown, { session }: SelectorContext): boolean => session.get(cart).items.length > 0
 * const checkout = defineSection({ key: 'checkout', title: 'Checkout', template: 'Ask for the address.', enabled: hasItems })
 * ```
 */
export interface SelectorContext {
  readonly session: SessionReader
}
/**
 * A value, or a function that computes it from the section's params and the session.
 *
 * @example
 * ```ts
 * const visibility: Selector<unknown, Visibility> = (_params, { session }) =>
 *   session.get(cart).items.length > 0 ? 'full' : 'summary'
 * const checkout = defineSection({ key: 'checkout', title: 'Checkout', template: 'Ask for the address.', summary: 'How to pay.', visibility })
 * ```
 */
export type Selector<Params, Value> = Value | ((params: Params, context: SelectorContext) => Value)

/**
 * Tools that a section offers one by one as they are opened, each under the path `section.name`. They are looked up when
 * needed, so there can be thousands of them, and they can change.
 *
 * @example
 * ```ts
 * const toolsOnDemand: ToolsOnDemand = { find: (name) => [sendMail, setLight].find((tool) => tool.name === name) }
 * const home = defineSection({ key: 'home', title: 'Home', template: 'Open tools by name.', toolsOnDemand })
 * ```
 */
export interface ToolsOnDemand {
  find(name: string): AnyTool | undefined
  /** Finds what a tool belongs to, such as its server. Default: the section. */
  findGroup?(name: string): ToolGroup | undefined
}

/**
 * Files that belong to a section. While the section is open, the model reads them one by one, with the tool that opens
 * sections, under the paths that the section's text says. Their text is the result of a call, and not part of the prompt.
 *
 * @example
 * ```ts
 * const files: SectionFiles = { read: async (path) => (path === 'fees.md' ? 'A refund costs nothing.' : undefined) }
 * const refunds = defineSection({ key: 'refunds', title: 'Refunds', template: 'The fees are in fees.md.', files })
 * ```
 */
export interface SectionFiles {
  /** Returns the text of a file, or `undefined` if there is no such file. Called only with relative paths without `..`. */
  read(path: string): Promise<string | undefined>
}

/**
 * The context in which a section is loaded: the session that its renderer reads afterwards.
 *
 * @example
 * ```ts
 * const load = async ({ session, signal }: LoadContext): Promise<void> => {
 *   const response = await fetch('https://shop.example/terms', { signal })
 *   session.dispatch(cart.events.added(await response.text()))
 * }
 * ```
 */
export interface LoadContext {
  readonly session: Session
  readonly signal: AbortSignal
}

/**
 * The return value of a custom renderer: a body, or nothing to leave the section out.
 *
 * @example
 * ```ts
 * const renderOrders = (ids: readonly string[]): RenderedBody => (ids.length > 0 ? ids.join('\n') : null)
 * renderOrders([]) // => null
 * ```
 */
export type RenderedBody = string | null | undefined

/**
 * A node in the tree of a prompt. `Params` are the values that its subtree needs; `Keys` are the dotted paths in it.
 *
 * @example
 * ```ts
 * const greeting: Section<{ readonly customer: string }, 'greeting'> = defineSection({
 *   key: 'greeting',
 *   title: 'Greeting',
 *   template: md`Greet ${'customer'} by name.`,
 * })
 * ```
 */
export interface Section<in Params = never, out Keys extends string = string> {
  readonly key: string
  readonly title: string
  readonly body: Template | ((params: never, context: SelectorContext) => RenderedBody)
  readonly summary: Template | undefined
  readonly summarySuffix: Template | undefined
  readonly params: StandardSchemaV1 | undefined
  readonly visibility: Selector<never, Visibility> | 'auto'
  readonly need: number | undefined
  readonly enabled: Selector<never, boolean>
  readonly tools: readonly AnyTool[]
  readonly toolsOnDemand: ToolsOnDemand | undefined
  readonly files: SectionFiles | undefined
  readonly load: ((context: LoadContext) => Promise<void>) | undefined
  readonly listed: number | undefined
  readonly children: readonly AnySection[]
  readonly acceptsOverrides: boolean
  readonly priority: number
  /** Who answers questions about the section while it is folded: a model by its name, or `true`, the run's own. */
  readonly delegate: string | boolean
  // Never set; they only carry types.
  readonly '~needs'?: (params: Params) => void
  readonly '~keys'?: Keys
}

/**
 * A section with any params and paths.
 *
 * @example
 * ```ts
 * const pages: AnySection[] = ['Refunds', 'Shipping'].map((title) =>
 *   defineSection({ key: title.toLowerCase(), title, template: `Everything about ${title}.` }),
 * )
 * const prompt = definePrompt({ ns: 'docs', key: 'help', sections: pages })
 * ```
 */
export type AnySection = Section<never, string>

/**
 * The values of sections whose types the compiler does not know, such as an array built at run time.
 *
 * @example
 * ```ts
 * const values: AnyValues = { customer: 'Ada', orders: 3 }
 * ```
 */
export type AnyValues = { readonly [name: string]: unknown }

/** The values that several sections need together. */
export type NeedsOf<S extends readonly AnySection[]> = [S[number]] extends [never]
  ? {}
  : (
        S[number] extends infer One
          ? One extends Section<infer Params, string>
            ? (params: [Params] extends [never] ? AnyValues : Params) => void
            : never
          : never
      ) extends (params: infer All) => void
    ? All
    : never

/** The dotted paths in several sections. */
export type KeysOf<S extends readonly AnySection[]> = [S[number]] extends [never]
  ? never
  : S[number] extends Section<never, infer Keys>
    ? Keys
    : never

type OwnInput<S, T> = S extends StandardSchemaV1 ? InputOf<S> : InferredParams<T>
/** Checked against the schema. Without a schema, the template's placeholders define the values. */
type TemplateOption<T, S> = S extends StandardSchemaV1 ? CheckedTemplate<T, OutputOf<S>> : T
type OwnOutput<S, T> = S extends StandardSchemaV1 ? OutputOf<S> : InferredParams<T>

/**
 * Options of {@link defineSection}.
 *
 * @example
 * ```ts
 * const options = {
 *   key: 'terms',
 *   title: 'Terms',
 *   template: 'Orders can be returned within 30 days.',
 *   summary: 'When orders can be returned.',
 *   visibility: 'summary',
 * } satisfies SectionOptions<'terms', undefined, string, string, []>
 * const terms = defineSection(options)
 * ```
 */
export type SectionOptions<
  Key extends string,
  Schema extends StandardSchemaV1 | undefined,
  Body,
  Summary,
  Children extends readonly AnySection[],
> = SectionFields<Key, Schema, Body, Summary, Children> & SectionBody

/** What a section shows when it is open: the sections in it, what a function renders, or a template. */
type SectionBody = { readonly children: unknown } | { readonly render: unknown } | { readonly template: unknown }

interface SectionFields<
  Key extends string,
  Schema extends StandardSchemaV1 | undefined,
  Body,
  Summary,
  Children extends readonly AnySection[],
> {
  /** Unique among its siblings; lowercase letters, digits, hyphens and underscores. Joined with its parents' keys, it forms the path. */
  readonly key: Key
  readonly title: string
  /** The values that the section needs, as any Standard Schema. Default: the placeholders of the template and the summary. */
  readonly params?: Schema
  /** The body: `${name}` is replaced with a value, `$${` with a literal `${`. Only a section with children may have no body. */
  readonly template?: TemplateOption<Body, Schema>
  /** Renders the body, instead of a template. */
  readonly render?: (params: OwnOutput<Schema, Body | Summary>, context: SelectorContext) => RenderedBody
  /** The text shown while the section is folded: a template over the same values. */
  readonly summary?: TemplateOption<Summary, Schema>
  /**
   * Replaces the line that tells the model how to open the section. `${section_key}` is replaced with the section's
   * path.
   */
  readonly summarySuffix?: string
  /**
   * Whether the section starts open (`'full'`) or folded (`'summary'`), or is folded where that is cheaper (`'auto'`):
   * by the model's cache, the traffic and `need`. Default `'full'`.
   */
  readonly visibility?: Selector<OwnOutput<Schema, Body | Summary>, Visibility> | 'auto'
  /** For `'auto'`: the share of conversations that need the section, from 0 to 1. Default 0.2. */
  readonly need?: number
  /** Whether the section exists at all. Default true. */
  readonly enabled?: Selector<OwnOutput<Schema, Body | Summary>, boolean>
  /** Tools offered to the model while the section is open. */
  readonly tools?: readonly AnyTool[]
  /** Tools offered one by one, once a tool of this section has opened them. */
  readonly toolsOnDemand?: ToolsOnDemand
  /** Files that the model reads while the section is open. */
  readonly files?: SectionFiles
  /**
   * Loads what the section shows, each time before the model opens it: put it into the session, where `render` finds it
   * now and in other processes. What it throws is the model's answer.
   */
  readonly load?: (context: LoadContext) => Promise<void>
  /**
   * Whether the section, while it is folded, is one line of a list that it shares with its siblings, instead of a heading
   * with a summary. A number is the most characters that the list may have; the default is 8,000. A longer list shortens
   * its lines, then shows only keys, then only how many sections there are, which are found by a query.
   */
  readonly listed?: boolean | number
  readonly children?: Children
  /** Whether overrides can reword the section without changing the source. Default true. */
  readonly acceptsOverrides?: boolean
  /** Under a token budget, sections with a lower priority are folded first. Default 0. */
  readonly priority?: number
  /**
   * Has a run of its own answer questions about the section (`ask_section`) instead of opening it: with the section's
   * text and tools, on the run's own model (`true`) or on one of its `delegates`, by name. Only the answer enters the
   * conversation. The section then starts folded. Who runs the prompt
   * without answering opens it like others. Default false.
   */
  readonly delegate?: string | boolean
}

const NO_TOOLS: readonly AnyTool[] = Object.freeze([])
const NO_SECTIONS: readonly AnySection[] = Object.freeze([])

/**
 * Defines a section of a prompt: a title, a body, and optionally a summary shown while it is folded, tools that are offered
 * while it is open, and child sections.
 *
 * @example
 * ```ts
 * const refunds = defineSection({
 *   key: 'refunds',
 *   title: 'Refunds',
 *   template: 'Refund ${customer} within 30 days.',
 *   summary: 'How to refund.',
 *   visibility: 'summary',
 *   tools: [refund],
 * })
 * ```
 */
export function defineSection<
  const Key extends string,
  const Body extends string | Template = '',
  Schema extends StandardSchemaV1 | undefined = undefined,
  const Summary extends string | Template = never,
  const Children extends readonly AnySection[] = readonly [],
>(
  options: SectionOptions<Key, Schema, Body, Summary, Children>,
): Section<OwnInput<Schema, Body | Summary> & NeedsOf<Children>, Key | `${Key}.${KeysOf<Children>}`> {
  const { key, delegate = false, enabled = true, children = [] } = options
  const { visibility = delegate === false ? 'full' : 'summary' } = options
  const invalid = (message: string, placeholder?: string): never => {
    throw new PromptValidationError(`Section '${key}': ${message}`, { path: key, placeholder })
  }
  if (!KEY_PATTERN.test(key)) {
    invalid(
      'this cannot be a key. Use 1 to 64 lowercase letters, digits, hyphens and underscores, starting with a letter or digit.',
    )
  }
  if (options.template !== undefined && options.render !== undefined)
    invalid('it has both a template and a custom renderer. Use one of them.')
  if (options.params !== undefined && !isStandardSchema(options.params)) {
    invalid(
      'its params are not a Standard Schema. Use a schema from zod, valibot, arktype or a similar library, or defineParams().',
    )
  }
  if (typeof visibility !== 'function' && visibility !== 'auto' && !isVisibility(visibility))
    invalid(`its visibility is '${String(visibility)}'. Use 'full', 'summary' or 'auto'.`)
  if ((typeof delegate !== 'boolean' && typeof delegate !== 'string') || delegate === '')
    invalid(`its delegate is ${describeGiven(delegate)}. Pass true, or the name of one of the run's \`delegates\`.`)
  if ((visibility === 'summary' || visibility === 'auto') && options.summary === undefined)
    invalid(`it is folded but has no summary. Give it a \`summary\`, or leave out visibility: '${visibility}'.`)
  const { need, priority = 0 } = options
  if (!Number.isFinite(priority)) invalid(`its priority is ${describeGiven(priority)}. Pass a number, or leave it out.`)
  if (need !== undefined && !(need >= 0 && need <= 1))
    invalid(`its need is ${describeGiven(need)}. Pass a share from 0 to 1.`)
  if (typeof options.listed === 'number' && !(options.listed > 0))
    invalid(`its list may have ${describeGiven(options.listed)} characters. Pass true, or a positive number.`)
  const summarySuffix = options.summarySuffix === undefined ? undefined : parseTemplate(options.summarySuffix)
  const foreign = summarySuffix?.names.find((name) => name !== 'section_key')
  if (foreign !== undefined)
    invalid(`its summarySuffix names \${${foreign}}; it can only contain \${section_key}.`, foreign)
  return Object.freeze({
    key,
    title: options.title,
    body:
      (options.render as AnySection['body'] | undefined) ??
      parseTemplate((options.template as string | Template | undefined) ?? ''),
    summary: options.summary === undefined ? undefined : parseTemplate(options.summary as string | Template),
    summarySuffix,
    params: options.params,
    visibility,
    need,
    enabled,
    tools: options.tools?.length ? Object.freeze([...options.tools]) : NO_TOOLS,
    toolsOnDemand: options.toolsOnDemand,
    files: options.files,
    load: options.load,
    listed: options.listed === true ? MAX_LIST_CHARACTERS : options.listed || undefined,
    children: children.length > 0 ? Object.freeze([...children]) : NO_SECTIONS,
    acceptsOverrides: options.acceptsOverrides ?? true,
    priority,
    delegate,
  })
}
