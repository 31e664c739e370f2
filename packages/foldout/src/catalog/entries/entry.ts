import type { JsonSchema } from '../../core/schema/schema.ts'
import { toVisibleText } from '../../core/visible-text.ts'
import { shortenDescription } from '../signatures/short-description.ts'
import type { LearnedOutput } from '../learned-output.ts'
import type { CatalogEntry, ToolAnnotations, ToolExecution } from '../tool.ts'
import type { ToolFields } from './read-fields.ts'
import type { ReadOutputSchema, ReadSchema } from './schemas.ts'

/** A definition as it was read, without the name that models see. */
export class Definition {
  readonly declared: string
  readonly qualified: string
  readonly source: string | undefined
  readonly fields: ToolFields
  readonly input: ReadSchema & { readonly shown: JsonSchema }
  readonly output: ReadOutputSchema
  readonly #faults: readonly string[]
  // Most tools of a large catalog are never shown, so expensive fields are computed when they are first read.
  #short: string | undefined
  #problem: string | undefined

  constructor(
    { declared, qualified, source }: Pick<CatalogEntry, 'declared' | 'qualified' | 'source'>,
    fields: ToolFields,
    schemas: Pick<Definition, 'input' | 'output'>,
    faults: readonly string[],
  ) {
    this.declared = declared
    this.qualified = qualified
    this.source = source
    this.fields = fields
    this.input = schemas.input
    this.output = schemas.output
    this.#faults = faults
  }

  get shortDescription(): string {
    const { title, description, shortDescription } = this.fields
    this.#short ??=
      shortDescription ??
      shortenDescription({ name: toVisibleText(this.declared), title, description, inputSchema: this.input.shown })
    return this.#short
  }

  get problem(): string | undefined {
    this.#problem ??= [...this.#faults, ...this.input.faults, ...this.output.faults].join(' ')
    return this.#problem || undefined
  }
}

/** A tool of a catalog under the name that models see. */
export class Entry implements CatalogEntry {
  readonly name: string
  readonly qualified: string
  readonly declared: string
  readonly source: string | undefined
  readonly title: string | undefined
  readonly description: string
  readonly category: string | undefined
  readonly tags: readonly string[]
  readonly core: boolean
  readonly annotations: ToolAnnotations | undefined
  readonly icons: readonly unknown[] | undefined
  readonly execution: ToolExecution | undefined
  readonly meta: Readonly<Record<string, unknown>> | undefined
  readonly extra: Readonly<Record<string, unknown>> | undefined
  declare readonly shortDescription: string
  declare readonly inputSchema: JsonSchema
  declare readonly outputSchema: JsonSchema | undefined
  declare readonly learnedOutput: LearnedOutput | undefined
  declare readonly problem: string | undefined
  readonly #definition: Definition

  constructor(name: string, definition: Definition) {
    const { fields, source } = definition
    this.#definition = definition
    this.name = name
    this.qualified = definition.qualified
    this.declared = definition.declared
    this.source = source
    this.title = fields.title
    this.description = fields.description
    this.category = fields.category ?? source
    this.tags = fields.tags
    this.core = fields.core
    this.annotations = fields.annotations
    this.icons = fields.icons
    this.execution = fields.execution
    this.meta = fields.meta
    this.extra = fields.extra
    // These are fields of the entry itself, so a copy made by spreading has them, and all entries share one getter: if
    // each entry had its own, engines could not share their layout, and creating an entry would take several times as
    // long.
    Object.defineProperty(this, 'shortDescription', Entry.#shortDescription)
    Object.defineProperty(this, 'inputSchema', Entry.#inputSchema)
    Object.defineProperty(this, 'outputSchema', Entry.#outputSchema)
    Object.defineProperty(this, 'learnedOutput', Entry.#learnedOutput)
    Object.defineProperty(this, 'problem', Entry.#problem)
    Object.freeze(this)
  }

  static readonly #shortDescription = Entry.#createGetter(({ shortDescription }) => shortDescription)
  static readonly #inputSchema = Entry.#createGetter(({ input }) => input.shown)
  static readonly #outputSchema = Entry.#createGetter(({ output }) => output.shown)
  static readonly #learnedOutput = Entry.#createGetter(({ output }) => output.learned)
  static readonly #problem = Entry.#createGetter(({ problem }) => problem)

  static #createGetter(read: (definition: Definition) => unknown): PropertyDescriptor {
    return {
      enumerable: true,
      get(this: Entry) {
        return read(this.#definition)
      },
    }
  }
}
