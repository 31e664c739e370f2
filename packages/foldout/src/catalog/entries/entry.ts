import type { JsonSchema } from '../../core/schema/schema.ts'
import { toVisibleText } from '../../core/visible-text.ts'
import { shortenDescription } from '../signatures/short-description.ts'
import type { CatalogEntry } from '../tool.ts'
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

/** Creates the entry of a tool under the name that models see. */
export function createEntry(name: string, definition: Definition): CatalogEntry {
  return new Entry(name, definition) as unknown as CatalogEntry
}

/** The fields that are computed when they are first read. */
const LAZY = {
  shortDescription: createGetter(({ shortDescription }) => shortDescription),
  inputSchema: createGetter(({ input }) => input.shown),
  outputSchema: createGetter(({ output }) => output.shown),
  learnedOutput: createGetter(({ output }) => output.learned),
  problem: createGetter(({ problem }) => problem),
}

/**
 * All fields of an entry are its own, so that a copy made by spreading has them. All entries share the getters: if each had
 * its own, engines could not share their layout, and creating an entry would take several times as long.
 */
class Entry {
  readonly #definition: Definition

  constructor(name: string, definition: Definition) {
    const { qualified, declared, source, fields } = definition
    const { title, description, category = source, tags, core, annotations, icons, execution, meta, extra } = fields
    this.#definition = definition
    const own = { name, qualified, declared, source, title, description, category, tags, core, annotations, icons }
    Object.assign(this, { ...own, execution, meta, extra } satisfies Omit<CatalogEntry, keyof typeof LAZY>)
    Object.defineProperties(this, LAZY)
    Object.freeze(this)
  }

  static getDefinition(entry: Entry): Definition {
    return entry.#definition
  }
}

function createGetter(read: (definition: Definition) => unknown): PropertyDescriptor {
  return {
    enumerable: true,
    get(this: Entry) {
      return read(Entry.getDefinition(this))
    },
  }
}
