import { getErrorCode } from 'foldout-shared/error-codes'
import { unlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { FoldoutError, PromptValidationError, getErrorMessage } from '../../core/errors.ts'
import { deepFreeze } from '../../core/json/json.ts'
import { describeFields, type JsonSchema } from '../../core/schema/schema.ts'
import { KEY_PATTERN } from '../../core/text.ts'
import { sourceOverrides } from './editing.ts'
import {
  applyOverrides,
  type AheadOverride,
  type IgnoredOverride,
  type PromptOverrides,
  type ToolOverride,
} from '../overrides/overrides.ts'
import { getRegistry, type AnyPrompt } from '../prompt.ts'
import { removeLeftOvers, replaceFile } from './atomic-file.ts'
import { checkInside, readInside } from './confined-file.ts'
import { withLock, type HeldLock } from './lock.ts'
import { checkEdits, mergeSection, mergeTool, refuseMissingSummary, type SectionEdit, type ToolEdit } from './edit.ts'
import {
  formatOverrideFile,
  parseOverrideFile,
  toEntries,
  unusable,
  type OverrideEntries,
  type OverridePlace,
} from './file.ts'

/**
 * Options of {@link createOverrideStore}.
 *
 * @example
 * ```ts
 * const options: OverrideStoreOptions = { root: 'prompts' }
 * const store = createOverrideStore(options)
 * ```
 */
export interface OverrideStoreOptions {
  /** The folder for the files of all prompts, created when first needed. Links that lead out of it are rejected. */
  readonly root: string
}

/**
 * Selects one wording of a prompt.
 *
 * @example
 * ```ts
 * const stable: OverrideTag = { tag: 'stable' }
 * const found = await createOverrideStore({ root: 'prompts' }).resolve(prompt, stable)
 * ```
 */
export interface OverrideTag {
  /** The name of the wording, such as `stable`. It has the same form as a prompt's key. */
  readonly tag: string
}

/**
 * The result of {@link OverrideStore.seed}.
 *
 * @example
 * ```ts
 * const store = createOverrideStore({ root: 'prompts' })
 * const seeded: SeededOverrides = await store.seed(prompt, { tag: 'new' })
 * seeded.written // => true
 * ```
 */
export interface SeededOverrides {
  /** The path of the file. */
  readonly path: string
  /** False if the file already existed; it is left unchanged. */
  readonly written: boolean
}

/**
 * The result of {@link OverrideStore.resolve}.
 *
 * @example
 * ```ts
 * const store = createOverrideStore({ root: 'prompts' })
 * const resolved: ResolvedOverrides | undefined = await store.resolve(prompt, { tag: 'stable' })
 * for (const { name, message } of resolved?.ignored ?? []) console.warn(name, message)
 * ```
 */
export interface ResolvedOverrides {
  /** The overrides that apply to the current prompt, for `render({ overrides })`. */
  readonly overrides: PromptOverrides
  /** The overrides that do not apply, with the reasons. They stay in the file. */
  readonly ignored: readonly IgnoredOverride[]
}

/**
 * The edits that {@link OverrideStore.upsert} writes.
 *
 * @example
 * ```ts
 * const edits: OverrideEdits = { tag: 'short', section: { path: 'guide', body: 'Be brief.' } }
 * await createOverrideStore({ root: 'prompts' }).upsert(prompt, edits)
 * ```
 */
export interface OverrideEdits extends OverrideTag {
  readonly section?: SectionEdit
  readonly tool?: ToolEdit
  readonly ahead?: AheadOverride
  /** Many edits in one write, such as those of `tune`. */
  readonly overrides?: PromptOverrides
  /** Drops everything else that the file has. */
  readonly replace?: boolean
}

/**
 * The entries that {@link OverrideStore.delete} removes.
 *
 * @example
 * ```ts
 * const deletion: OverrideDeletion = { tag: 'unused', section: 'refunds' }
 * await createOverrideStore({ root: 'prompts' }).delete(prompt, deletion) // => false
 * ```
 */
export interface OverrideDeletion extends OverrideTag {
  /** The path of a section. */
  readonly section?: string
  /** The name of a tool. */
  readonly tool?: string
  readonly ahead?: true
}

/**
 * Keeps the overrides of prompts in files that people can read and edit, one for each prompt and tag. Several processes can
 * share the folder. Every operation rejects a malformed file and never overwrites it.
 *
 * @example
 * ```ts
 * const store: OverrideStore = createOverrideStore({ root: 'prompts' })
 * await store.seed(prompt, { tag: 'friendly' })
 * await store.upsert(prompt, { tag: 'friendly', section: { path: 'guide', body: 'Be kind.' } })
 * const found = await store.resolve(prompt, { tag: 'friendly' })
 * found?.overrides.sections?.['guide']?.body // => 'Be kind.'
 * ```
 */
export interface OverrideStore {
  /** Writes the current texts of the source, as a starting point for edits. */
  seed(prompt: AnyPrompt, options: OverrideTag): Promise<SeededOverrides>
  /** Reads the overrides, or returns `undefined` if there is no file. */
  resolve(prompt: AnyPrompt, options: OverrideTag): Promise<ResolvedOverrides | undefined>
  /**
   * Writes new texts for a section, a tool, or what opens ahead, based on the current source. Fields that are left out stay
   * unchanged in the file, unless the entry is stale: a stale entry is replaced, because it was written for an older
   * text.
   */
  upsert(prompt: AnyPrompt, options: OverrideEdits): Promise<void>
  /**
   * Removes the entries that are named, or the whole file. Returns whether there was anything to remove.
   */
  delete(prompt: AnyPrompt, options: OverrideDeletion): Promise<boolean>
}

/**
 * Creates an override store with one JSON file for each prompt and tag, `<root>/<ns>/<key>/<tag>.json`.
 *
 * @example
 * ```ts
 * const store = createOverrideStore({ root: 'prompts' })
 * await store.seed(prompt, { tag: 'stable' })
 * const found = await store.resolve(prompt, { tag: 'stable' })
 * const { text } = prompt.bind(values).render(found ? { overrides: found.overrides } : {})
 * ```
 */
export function createOverrideStore(options: OverrideStoreOptions): OverrideStore {
  const root = resolve(options.root)
  return {
    async seed(prompt, { tag }) {
      const place = getPlace(root, prompt, tag)
      const entries = toEntries(sourceOverrides(prompt))
      const written = await change(place, async (lock) => {
        if (await read(place)) return false
        await replaceFile(place.path, formatOverrideFile(place, entries, prompt.descriptor), lock)
        return true
      })
      return { path: place.path, written }
    },

    async resolve(prompt, { tag }) {
      const place = getPlace(root, prompt, tag)
      const entries = await nameFile(place, 'read', () => read(place))
      return entries && applicable(prompt, entries, place)
    },

    async upsert(prompt, { tag, section, tool, ahead, overrides, replace = false }) {
      const place = getPlace(root, prompt, tag)
      if (!section && !tool && !ahead && !overrides) {
        throw new PromptValidationError(
          'There is nothing to write. Pass a `section`, a `tool`, `ahead` or `overrides`.',
        )
      }
      const edits = checkEdits(prompt, { section, tool, ahead, overrides })
      await change(place, async (lock) => {
        // Also one that is replaced: a malformed file is never overwritten.
        const old = await read(place)
        const found = replace ? undefined : old
        const sections = new Map(found?.sections)
        const tools = new Map(found?.tools)
        for (const [path, override] of edits.sections) {
          const merged = mergeSection(sections.get(path), override)
          refuseMissingSummary(prompt, path, merged)
          sections.set(path, merged)
        }
        for (const [name, override] of edits.tools) tools.set(name, mergeTool(tools.get(name), override))
        const entries = { sections, tools, ahead: edits.ahead ?? found?.ahead }
        await replaceFile(place.path, formatOverrideFile(place, entries, prompt.descriptor), lock)
      })
    },

    async delete(prompt, options) {
      const place = getPlace(root, prompt, options.tag)
      const { section, tool, ahead } = options
      for (const name of ['section', 'tool', 'ahead'] as const) {
        // A caller's mistake must not delete the whole file.
        if (name in options && options[name] === undefined) {
          throw new PromptValidationError(
            `The \`${name}\` to delete is undefined. Name it, or leave it out to delete the whole file.`,
          )
        }
      }
      if (!(await nameFile(place, 'read', () => read(place)))) return false
      return change(place, async (lock) => {
        const found = await read(place)
        if (!found) return false
        if (section === undefined && tool === undefined && ahead === undefined) {
          lock.commit(() => unlinkSync(place.path))
          return true
        }
        const sections = new Map(found.sections)
        const tools = new Map(found.tools)
        const hadSection = section !== undefined && sections.delete(section)
        const hadTool = tool !== undefined && tools.delete(tool)
        const hadAhead = ahead !== undefined && found.ahead !== undefined
        if (!hadSection && !hadTool && !hadAhead) return false
        const entries = { sections, tools, ahead: hadAhead ? undefined : found.ahead }
        await replaceFile(place.path, formatOverrideFile(place, entries, prompt.descriptor), lock)
        return true
      })
    },
  }
}

function getPlace(root: string, prompt: AnyPrompt, tag: string): OverridePlace {
  // Only prompts made by `definePrompt` are accepted: it guarantees that ns and key cannot lead to another folder.
  getRegistry(prompt)
  if (typeof tag !== 'string' || !KEY_PATTERN.test(tag)) {
    throw new PromptValidationError(
      `'${tag}' cannot be a tag. Use 1 to 64 lowercase letters, digits, hyphens and underscores, starting with a letter or digit.`,
    )
  }
  const { ns, key } = prompt
  return { root, path: join(root, ...ns.split('/'), key, `${tag}.json`), ns, key, tag }
}

async function read(place: OverridePlace): Promise<OverrideEntries | undefined> {
  const bytes = await readInside(place.root, place.path)
  return bytes && parseOverrideFile(bytes, place)
}

/** Runs work that reads, merges and writes the file while holding its lock. */
function change<Value>(place: OverridePlace, work: (lock: HeldLock) => Promise<Value>): Promise<Value> {
  return nameFile(place, 'changed', async () => {
    checkInside(place.root, place.path)
    return withLock(`${place.path}.lock`, (held) => {
      const lock: HeldLock = {
        commit: (deed) =>
          held.commit(() => {
            checkInside(place.root, place.path)
            deed()
          }),
      }
      lock.commit(() => removeLeftOvers(place.path))
      return work(lock)
    })
  })
}

async function nameFile<Value>(place: OverridePlace, done: string, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof FoldoutError || getErrorCode(error) === undefined) throw error
    throw new FoldoutError(
      'override-file',
      `The override file '${place.path}' could not be ${done}: ${getErrorMessage(error)}.`,
      { cause: error },
    )
  }
}

function applicable(prompt: AnyPrompt, entries: OverrideEntries, place: OverridePlace): ResolvedOverrides {
  const registry = getRegistry(prompt)
  const all = { sections: Object.fromEntries(entries.sections), tools: Object.fromEntries(entries.tools) }
  try {
    const applied = applyOverrides(all, registry)
    const sections = [...entries.sections].filter(([path]) => applied.sections.has(path))
    for (const [path, override] of sections) refuseMissingSummary(prompt, path, override)
    const tools = [...entries.tools].flatMap(([name, override]) => {
      const tool = applied.tools.get(name) ?? applied.core.get(name)?.tool
      if (tool) return [[name, withKnownFields(tool.inputSchema, override)] as const]
      return []
    })
    const { ahead } = entries
    return deepFreeze({
      overrides: {
        sections: Object.fromEntries(sections),
        tools: Object.fromEntries(tools),
        ...(ahead && { ahead }),
      },
      ignored: applied.ignored,
    })
  } catch (error) {
    if (error instanceof PromptValidationError) throw unusable(place.path, error.message, error)
    throw error
  }
}

function withKnownFields(schema: JsonSchema, override: ToolOverride): ToolOverride {
  if (!override.fields) return override
  const unknown = new Set(describeFields(schema, override.fields).unknown)
  const known = Object.entries(override.fields).filter(([field]) => !unknown.has(field))
  return { ...override, fields: Object.fromEntries(known) }
}
