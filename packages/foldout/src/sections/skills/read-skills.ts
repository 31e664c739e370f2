import { FoldoutError, getErrorMessage } from '../../core/errors.ts'
import { createBytesHash, sha256Hex } from '../../core/hash.ts'
import type { FileEntry, Filesystem } from '../../files/filesystem.ts'
import { MAX_SKILL_BYTES, MAX_SKILL_FILES, SKILLS_READ_TOGETHER } from './limits.ts'
import { findFolders, isSkipped, type FoundFolder } from './find-folders.ts'
import { readSkill, toKey } from './read-skill.ts'
import type { Skill, SkillFile, SkillRoot, SkillScope, SkillSource } from './skill.ts'

/**
 * Options of {@link readSkills}.
 *
 * @example
 * ```ts
 * const options: ReadSkillsOptions = { onBroken: (error) => console.error(error.message), onWarning: console.warn }
 * const skills = await readSkills(createHostFilesystem('skills'), options)
 * ```
 */
export interface ReadSkillsOptions {
  /** The folder that contains the skills, if the source is one filesystem. Default: its root. */
  readonly folder?: string
  /** Called for each skill that cannot be used. Default: the first error is thrown. */
  readonly onBroken?: (error: FoldoutError) => void
  /**
   * Whether the text and the files of a skill may reach the model. Asked once for each digest, and needed for skills of a
   * project, whose authors decide what they say. Default: everything except skills of a project.
   */
  readonly trust?: TrustSkill
  /** Called for each fault that does not keep a skill from being used, and for each skill that another one hides. */
  readonly onWarning?: (message: string) => void
}

/**
 * A skill that somebody has to trust.
 *
 * @example
 * ```ts
 * const question: TrustQuestion = { name: 'invoices', digest: 'sha256:1f', scope: 'project', folder: '/work/.agents/skills/invoices' }
 * ```
 */
export interface TrustQuestion {
  readonly name: string
  /** The digest of all its files, as {@link computeSkillDigest} computes it. */
  readonly digest: string
  readonly scope: SkillScope
  /** Its folder on the host, if known. */
  readonly folder: string | undefined
}

/**
 * Decides whether a skill may reach the model.
 *
 * @example
 * ```ts
 * const trust: TrustSkill = ({ scope, digest }) => scope !== 'project' || approvedDigests.has(digest)
 * const skills = await readSkills(createHostFilesystem('skills'), { trust })
 * ```
 */
export type TrustSkill = (question: TrustQuestion) => boolean | Promise<boolean>

/**
 * Finds the skills in folders, at any depth, and reads the `SKILL.md` of each. Other files are listed, not read. Of skills
 * with the same name, the one in the earlier place counts.
 *
 * @example
 * ```ts
 * const skills = await readSkills(createHostFilesystem('skills'))
 * skills.map(({ name, description }) => `${name}: ${description}`)
 * ```
 */
export async function readSkills(source: SkillSource, options: ReadSkillsOptions = {}): Promise<readonly Skill[]> {
  const { onBroken, onWarning = () => undefined } = options
  const findTrusted = createTrust(options.trust)
  const taken = new Map<string, Skill>()
  for (const root of toRoots(source, options.folder)) {
    const own = new Map<string, Skill>()
    for (const outcome of await readRoot(root, onWarning)) {
      try {
        if ('fault' in outcome) throw outcome.fault
        const trusted = await findTrusted(outcome)
        if (!trusted) {
          onWarning(`${outcome.path}/SKILL.md: The skill is left out, because it is not trusted.`)
          continue
        }
        const skill = distinguish(trusted, own)
        own.set(skill.key, skill)
        for (const warning of skill.warnings) onWarning(`${skill.path}/SKILL.md: ${warning}`)
      } catch (error) {
        const fault = toFault(error, outcome)
        if (!onBroken) throw fault
        onBroken(fault)
      }
    }
    for (const [key, skill] of own) {
      const other = taken.get(key)
      if (other === undefined) taken.set(key, skill)
      else if (other.digest !== skill.digest) onWarning(describeHidden(skill, other))
    }
  }
  return [...taken.values()]
}

/** Creates a function that returns a skill if it is trusted, with the files that were there when it was. */
function createTrust(trust: TrustSkill | undefined): (skill: Skill) => Promise<Skill | undefined> {
  const answers = new Map<string, Promise<boolean>>()
  return async (skill) => {
    const { name, scope, folder } = skill
    if (!trust) {
      if (scope !== 'project') return skill
      throw new FoldoutError(
        'skill-untrusted',
        `${skill.path}/SKILL.md comes with a project, whose authors decide what it says. Pass trust: (skill) => …, which asks the user once for each digest, or give the root another scope.`,
      )
    }
    const hashes = new Map<string, string>()
    const digest = await hashSkill(skill, (path, hash) => hashes.set(path, hash))
    const known = answers.get(digest) ?? Promise.resolve(trust({ name, digest, scope, folder }))
    answers.set(digest, known)
    if (await known) return keepFiles(skill, hashes)
    return undefined
  }
}

/** Files are read when they are needed, and may have changed since somebody trusted them. */
function keepFiles(skill: Skill, hashes: ReadonlyMap<string, string>): Skill {
  const files = skill.files.map((file) => ({
    ...file,
    async read() {
      const bytes = await file.read()
      if (hashBytes(bytes) === hashes.get(file.path)) return bytes
      throw new FoldoutError(
        'skill-untrusted',
        `${skill.path}/${file.path} has changed since the skill was trusted. Read the skills again.`,
      )
    },
  }))
  // Files beyond those were not part of what was trusted.
  return { ...skill, files, ...(skill.findFile && { findFile: async () => undefined }) }
}

function hashBytes(bytes: Uint8Array): string {
  const hash = createBytesHash()
  hash.update(bytes)
  return hash.digest()
}

/** Returns the places of a source, in order of precedence. */
export function toRoots(source: SkillSource, folder?: string): readonly SkillRoot[] {
  if (Array.isArray(source)) return source as readonly SkillRoot[]
  if ('files' in source) return [source]
  return [{ files: source as Filesystem, ...(folder !== undefined && { folder }) }]
}

function describeHidden(skill: Skill, other: Skill): string {
  const where = (each: Skill): string => `${each.folder ?? each.path} (${each.scope})`
  return `The skill '${skill.key}' in ${where(skill)} is not used, because the one in ${where(other)} comes first.`
}

/** Skills of one place with the same name get the names of their catalogs, if those differ. */
function distinguish(skill: Skill, taken: ReadonlyMap<string, Skill>): Skill {
  const other = taken.get(skill.key)
  if (other === undefined) return skill
  const key = skill.category === other.category ? '' : toKey(`${skill.category.replaceAll('/', '-')}-${skill.key}`)
  if (key !== '' && !taken.has(key)) return { ...skill, key }
  throw new FoldoutError(
    'skill-invalid',
    `${skill.path}/SKILL.md: ${other.path}/SKILL.md has the same name, '${skill.key}'. Rename one of them.`,
  )
}

type Outcome = Skill | { readonly path: string; readonly fault: unknown }

/** Filesystems of others may throw anything. */
function toFault(error: unknown, { path }: Outcome): FoldoutError {
  if (error instanceof FoldoutError) return error
  return new FoldoutError('skill-invalid', `${path}/SKILL.md cannot be read: ${getErrorMessage(error)}`, {
    cause: error,
  })
}

async function readRoot(root: SkillRoot, warn: (message: string) => void): Promise<readonly Outcome[]> {
  const found = await findFolders(root.files, root.folder ?? '', warn)
  return mapTogether(found, async (folder) => {
    try {
      return await readFolder(root, folder)
    } catch (fault) {
      return { path: folder.path, fault }
    }
  })
}

/** Reads one skill again, from the folder that it was found in. */
export async function readFolder(root: SkillRoot, folder: FoundFolder): Promise<Skill> {
  const { files, scope = 'program', hostFolder } = root
  const path = joinPath(folder.path, folder.file)
  const size = (await files.stat(path))?.size ?? 0
  if (size > MAX_SKILL_BYTES) {
    throw new FoldoutError(
      'skill-invalid',
      `${path}: it has ${size} bytes; at most ${MAX_SKILL_BYTES} are read. Move parts of it to other files next to it.`,
    )
  }
  const text = await files.read(path)
  const read = await readSkill(text, path)
  const listed = await listFiles(files, folder.path)
  const below = folder.path.slice((root.folder ?? '').length).replace(/^\//, '')
  const tooMany = `It has more than ${MAX_SKILL_FILES} files; the others can be read, but are not listed.`
  return {
    ...read,
    warnings: listed.isCut ? [...read.warnings, tooMany] : read.warnings,
    text,
    digest: `sha256:${sha256Hex(text)}`,
    path: folder.path,
    category: toCategory(below),
    files: listed.entries.filter((entry) => entry.path !== path).map((entry) => toFile(files, entry, folder.path)),
    folder: hostFolder === undefined ? undefined : [hostFolder, below].filter(Boolean).join('/'),
    scope,
    ...(listed.isCut && { findFile: (name: string) => findFile(files, folder.path, name) }),
  }
}

function joinPath(folder: string, name: string): string {
  return [folder, name].filter((part) => part !== '').join('/')
}

/** The folders around a skill that say what it is about. */
function toCategory(below: string): string {
  const around = below.split('/').slice(0, -1)
  return around.filter((name) => !/^(\.?skills|plugins|\.agents|\.claude|src)$/.test(name)).join('/')
}

function toFile(files: Filesystem, entry: FileEntry, folder: string): SkillFile {
  return {
    path: folder === '' ? entry.path : entry.path.slice(folder.length + 1),
    size: entry.size,
    read: () => readBytes(files, entry.path),
  }
}

async function findFile(files: Filesystem, folder: string, name: string): Promise<SkillFile | undefined> {
  const entry = await files.stat(joinPath(folder, name))
  if (entry?.kind !== 'file') return undefined
  return toFile(files, entry, folder)
}

async function readBytes(files: Filesystem, path: string): Promise<Uint8Array> {
  return (await files.readBytes?.(path)) ?? new TextEncoder().encode(await files.read(path))
}

/** Lists all files in a folder and its subfolders, in order. Iterative, so deep folders cannot exhaust the stack. */
async function listFiles(
  files: Filesystem,
  folder: string,
): Promise<{ readonly entries: readonly FileEntry[]; readonly isCut: boolean }> {
  const entries: FileEntry[] = []
  const waiting = (await files.list(folder)).toReversed()
  for (let entry = waiting.pop(); entry; entry = waiting.pop()) {
    if (entry.kind === 'file') entries.push(entry)
    else if (!entry.link && !isSkipped(entry.path))
      for (const inner of (await files.list(entry.path)).toReversed()) waiting.push(inner)
    if (entries.length > MAX_SKILL_FILES) return { entries: entries.slice(0, MAX_SKILL_FILES), isCut: true }
  }
  return { entries, isCut: false }
}

/** Maps values a few at a time, in order. */
export async function mapTogether<Value, Result>(
  values: readonly Value[],
  work: (value: Value) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = []
  for (let from = 0; from < values.length; from += SKILLS_READ_TOGETHER)
    results.push(...(await Promise.all(values.slice(from, from + SKILLS_READ_TOGETHER).map(work))))
  return results
}

/**
 * Computes the digest of a whole skill, as `skills-lock.json` has it: the SHA-256 of the paths and the bytes of all files,
 * in the order of their paths.
 *
 * @example
 * ```ts
 * const [skill] = await readSkills(createHostFilesystem('skills'))
 * const digest = skill && (await computeSkillDigest(skill))
 * digest?.startsWith('sha256:') // => true
 * ```
 */
export async function computeSkillDigest(skill: Pick<Skill, 'text' | 'files'>): Promise<string> {
  return hashSkill(skill, () => undefined)
}

async function hashSkill(
  skill: Pick<Skill, 'text' | 'files'>,
  onFile: (path: string, hash: string) => void,
): Promise<string> {
  const hash = createBytesHash()
  const encoder = new TextEncoder()
  const all = [...skill.files, { path: 'SKILL.md', read: async () => encoder.encode(skill.text) }].sort((a, b) =>
    a.path.localeCompare(b.path),
  )
  for (const { path, read } of all) {
    const bytes = await read()
    hash.update(encoder.encode(path))
    hash.update(bytes)
    onFile(path, hashBytes(bytes))
  }
  return `sha256:${hash.digest()}`
}
