import type { JsonObject } from '../../core/json/json.ts'
import type { Filesystem } from '../../files/filesystem.ts'

/**
 * The content of a `SKILL.md`.
 *
 * @example
 * ```ts
 * const { name, fields }: SkillText = await readSkill('---\nname: refunds\ndescription: How to refund.\nlicense: MIT\n---\n', 'SKILL.md')
 * name // => 'refunds'
 * fields // => { name: 'refunds', description: 'How to refund.', license: 'MIT' }
 * ```
 */
export interface SkillText {
  /** The name as the file has it; without one, the name of its folder. */
  readonly name: string
  /** The name as the key of a section. It is the name itself if that is valid. */
  readonly key: string
  readonly description: string
  /** The tools that the skill brings, by name: `io.modelcontextprotocol/tools` or `adk_additional_tools` of its metadata. */
  readonly tools: readonly string[]
  /** What `allowed-tools` says: tools that its author wants to run without approval. It grants nothing. */
  readonly allowedTools: readonly string[]
  /** False if `disable-model-invocation` is set: only a user opens the skill. */
  readonly isForModels: boolean
  /** False if `user-invocable` is `false`: only a model opens the skill. */
  readonly isForUsers: boolean
  /** Every field of the front matter, as JSON. */
  readonly fields: JsonObject
  /** The text below the front matter, without characters that a reviewer cannot see. */
  readonly body: string
  /** What is wrong with the file, although it can be used. */
  readonly warnings: readonly string[]
}

/**
 * A skill: a folder with a `SKILL.md`, and the files beside it.
 *
 * @example
 * ```ts
 * const [skill]: readonly Skill[] = await readSkills(createHostFilesystem('skills'))
 * skill?.name // => 'refunds'
 * skill?.files.map(({ path }) => path) // => []
 * ```
 */
export interface Skill extends SkillText {
  /** The whole `SKILL.md` as it is. */
  readonly text: string
  /** The digest of `SKILL.md`: `sha256:` and 64 hexadecimal digits. {@link computeSkillDigest} covers all files. */
  readonly digest: string
  /** The path of its folder, relative to the root that it was found in. */
  readonly path: string
  /** The folders between the root and the skill, without those named `skills` or `plugins`; empty if there are none. */
  readonly category: string
  /** The other files, by path. They are read when they are needed. */
  readonly files: readonly SkillFile[]
  /** Finds a file that `files` does not have, for sources that cannot list their files. */
  findFile?(path: string): Promise<SkillFile | undefined>
  /** Reads `SKILL.md`, for sources that do not read it before it is needed. Then `text` and `body` are empty. */
  load?(signal?: AbortSignal): Promise<SkillText>
  /** The absolute path of its folder on the host, if known. */
  readonly folder: string | undefined
  readonly scope: SkillScope
}

/**
 * Where a skill comes from. Skills of a project come with the repository, so its authors decide what they say; those of
 * the user and of the program were chosen by the person who runs it, and those of a server by the one who runs the
 * server.
 *
 * @example
 * ```ts
 * const needsTrust = (scope: SkillScope): boolean => scope === 'project'
 * ```
 */
export type SkillScope = 'program' | 'user' | 'project' | 'server'

/**
 * A file of a skill.
 *
 * @example
 * ```ts
 * const file: SkillFile = { path: 'references/fields.md', size: 6, read: async () => new TextEncoder().encode('Fields') }
 * new TextDecoder().decode(await file.read()) // => 'Fields'
 * ```
 */
export interface SkillFile {
  /** The path relative to the skill's folder, as texts name it: `references/fields.md`. */
  readonly path: string
  /** The size in bytes, if the source knows it. */
  readonly size: number | undefined
  /** Reads its bytes. They are not kept. */
  read(): Promise<Uint8Array>
}

/**
 * A place with skills.
 *
 * @example
 * ```ts
 * const root: SkillRoot = { files: createHostFilesystem('skills'), scope: 'user' }
 * const skills = await skillSections([root])
 * ```
 */
export interface SkillRoot {
  readonly files: Filesystem
  /** The folder in `files` below which the skills are. Default: its root. */
  readonly folder?: string
  /** The absolute path of that folder on the host, for models that have file tools of their host. */
  readonly hostFolder?: string
  /** Default `'program'`: the skills are part of your program. */
  readonly scope?: SkillScope
}

/**
 * Where to find skills: a filesystem, or several places of which the first has precedence.
 *
 * @example
 * ```ts
 * const source: SkillSource = [{ files: createHostFilesystem('.'), folder: 'skills' }]
 * const skills = await skillSections(source)
 * ```
 */
export type SkillSource = Filesystem | SkillRoot | readonly SkillRoot[]
