import { unlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { FoldoutError, PromptValidationError, getErrorMessage } from '../../core/errors.ts'
import { deepFreeze } from '../../core/json/json.ts'
import { describeFields, type JsonSchema } from '../../core/schema/schema.ts'
import { KEY_PATTERN } from '../../core/text.ts'
import { sourceOverrides } from './editing.ts'
import { applyOverrides, type IgnoredOverride, type PromptOverrides, type ToolOverride } from './overrides.ts'
import { getRegistry, type AnyPrompt } from '../prompt.ts'
import { removeLeftOvers, replaceFile } from './atomic-file.ts'
import { checkInside, readInside } from './confined-file.ts'
import { getCode, withLock, type HeldLock } from './lock.ts'
import {
  mergeSection,
  mergeTool,
  refuseMissingSummary,
  sectionOverride,
  toolOverride,
  type SectionEdit,
  type ToolEdit,
} from './edit.ts'
import { formatOverrideFile, parseOverrideFile, unusable, type OverrideEntries, type OverridePlace } from './file.ts'

/** Options of {@link createOverrideStore}. */
export interface OverrideStoreOptions {
  /** The folder for the files of all prompts. It is created when it is first needed. Links that lead out of it are refused. */
  readonly root: string
}

/** Which wording of a prompt is meant. */
export interface OverrideTag {
  /** Names one wording of a prompt, such as `stable`: a key, as prompts have. */
  readonly tag: string
}

/** What {@link OverrideStore.seed} has done. */
export interface SeededOverrides {
  /** The file. */
  readonly path: string
  /** False where there was a file, which is left as it is. */
  readonly written: boolean
}

/** What {@link OverrideStore.resolve} has found. */
export interface ResolvedOverrides {
  /** Those that apply to the prompt as it is now, for `render({ overrides })`. */
  readonly overrides: PromptOverrides
  /** The others, and why. They stay in the file. */
  readonly ignored: readonly IgnoredOverride[]
}

/** What {@link OverrideStore.upsert} is to write. */
export interface OverrideEdits extends OverrideTag {
  readonly section?: SectionEdit
  readonly tool?: ToolEdit
}

/** What {@link OverrideStore.delete} is to remove. */
export interface OverrideDeletion extends OverrideTag {
  /** Path of a section. */
  readonly section?: string
  /** Name of a tool. */
  readonly tool?: string
}

/**
 * Keeps the overrides of prompts in files that people can read and edit, one for each prompt and tag. Processes may share
 * the folder. A malformed file is an error for every operation and is never written over.
 */
export interface OverrideStore {
  /** Writes what the source says now, for people to start from. */
  seed(prompt: AnyPrompt, options: OverrideTag): Promise<SeededOverrides>
  /** Reads what people have written; `undefined` where there is no file. */
  resolve(prompt: AnyPrompt, options: OverrideTag): Promise<ResolvedOverrides | undefined>
  /**
   * Writes other words for a section, a tool or both, against what the source says now. What is not given stays as it is
   * in the file, unless the entry there is stale: then it is dropped, because it was written against other words.
   */
  upsert(prompt: AnyPrompt, options: OverrideEdits): Promise<void>
  /** Removes the entry of a section, a tool or both, else the whole file. Says whether anything was there to remove. */
  delete(prompt: AnyPrompt, options: OverrideDeletion): Promise<boolean>
}

/**
 * Creates a store of overrides: one JSON file for each prompt and tag, `<root>/<ns>/<key>/<tag>.json`.
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
      const { sections = {}, tools = {} } = sourceOverrides(prompt)
      const written = await change(place, async (lock) => {
        if (await read(place)) return false
        const entries = { sections: new Map(Object.entries(sections)), tools: new Map(Object.entries(tools)) }
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

    async upsert(prompt, { tag, section, tool }) {
      const place = getPlace(root, prompt, tag)
      if (!section && !tool) {
        throw new PromptValidationError('There is nothing to write. Give a `section`, a `tool` or both.')
      }
      const newSection = section && sectionOverride(prompt, section)
      const newTool = tool && toolOverride(prompt, tool)
      await change(place, async (lock) => {
        const found = await read(place)
        const sections = new Map(found?.sections)
        const tools = new Map(found?.tools)
        if (newSection) {
          const merged = mergeSection(sections.get(section.path), newSection)
          refuseMissingSummary(prompt, section.path, merged)
          sections.set(section.path, merged)
        }
        if (newTool) tools.set(tool.name, mergeTool(tools.get(tool.name), newTool))
        await replaceFile(place.path, formatOverrideFile(place, { sections, tools }, prompt.descriptor), lock)
      })
    },

    async delete(prompt, options) {
      const place = getPlace(root, prompt, options.tag)
      const { section, tool } = options
      for (const name of ['section', 'tool'] as const) {
        // A mistake of the caller's must not cost the whole file.
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
        if (section === undefined && tool === undefined) {
          lock.commit(() => unlinkSync(place.path))
          return true
        }
        const sections = new Map(found.sections)
        const tools = new Map(found.tools)
        const hadSection = section !== undefined && sections.delete(section)
        const hadTool = tool !== undefined && tools.delete(tool)
        if (!hadSection && !hadTool) return false
        await replaceFile(place.path, formatOverrideFile(place, { sections, tools }, prompt.descriptor), lock)
        return true
      })
    },
  }
}

function getPlace(root: string, prompt: AnyPrompt, tag: string): OverridePlace {
  // Refuses what `definePrompt` has not made: only there ns and key are known to name no other folder.
  getRegistry(prompt)
  if (typeof tag !== 'string' || !KEY_PATTERN.test(tag)) {
    throw new PromptValidationError(
      `'${tag}' cannot be a tag. Use 1 to 64 lower-case letters, digits, hyphens and underscores, beginning with a letter or digit.`,
    )
  }
  const { ns, key } = prompt
  return { root, path: join(root, ...ns.split('/'), key, `${tag}.json`), ns, key, tag }
}

async function read(place: OverridePlace): Promise<OverrideEntries | undefined> {
  const bytes = await readInside(place.root, place.path)
  return bytes && parseOverrideFile(bytes, place)
}

/** Work that reads, merges and writes, while no one else does. */
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
    if (error instanceof FoldoutError || getCode(error) === undefined) throw error
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
      const tool = applied.tools.get(name)
      return tool ? [[name, withKnownFields(tool.inputSchema, override)] as const] : []
    })
    return deepFreeze({
      overrides: { sections: Object.fromEntries(sections), tools: Object.fromEntries(tools) },
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
