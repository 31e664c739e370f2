import { decodeText, shorten } from '../../core/text.ts'
import { isObject } from 'foldout-shared/values'
import { ignore } from '../../core/promises.ts'
import { toKey } from '../../sections/skills/read-skill.ts'
import type { Skill } from '../../sections/skills/skill.ts'
import { toLine } from '../../sections/skills/skill-text.ts'
import { MAX_SERVED_SKILL_BYTES, MAX_SERVED_SKILL_FILES, MAX_SKILL_INSTRUCTIONS } from '../limits.ts'
import type { JsonObject } from '../protocol/messages.ts'
import { getDigest, MANIFEST, SKILL_SCHEME, type WireFile, type WireSkill } from './wire.ts'

/**
 * Skills as MCP clients see them, by the extension for skills.
 *
 * @example
 * ```ts
 * const served: ServedSkills = serveSkills(await readSkills(createHostFilesystem('skills')))
 * served.has('skill://refunds/SKILL.md') // => true
 * ```
 */
export interface ServedSkills {
  /** The `SKILL.md` of each, as a resource. */
  readonly resources: readonly JsonObject[]
  /** Those that models may open by themselves, which are announced to them. */
  readonly forModels: readonly JsonObject[]
  /** Announces the skills to models. */
  readonly instructions: string
  /** The skills that clients would refuse: their name is not valid, they have too many files, or their text is elsewhere. */
  readonly refused: readonly Skill[]
  /** Whether a URI is in the folder of one of the skills. */
  has(uri: string): boolean
  /** Describes the skill of a URI, with the digests of its files; undefined if there is none. */
  describe(uri: string): Promise<WireSkill> | undefined
  /** Reads a file; undefined if there is none with this URI. */
  read(uri: string): Promise<JsonObject | undefined>
  /** Lists what is directly in a folder; undefined if no folder has this URI. */
  list(uri: string): Promise<readonly JsonObject[] | undefined>
}

const MARKDOWN = 'text/markdown'
const TYPES = new Map([
  ['md', MARKDOWN],
  ['json', 'application/json'],
  ['html', 'text/html'],
])
const FOLDER_TYPE = 'inode/directory'
const NAME = /^(?!.*--)[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$/

const known = new WeakMap<readonly Skill[], ServedSkills>()

/**
 * Serves skills in a server of your own that passes other servers on. `serveMcp` does it for you with `skills`.
 *
 * @example
 * ```ts
 * const served = serveSkills(await readSkills(createHostFilesystem('skills')))
 * served.resources.map(({ uri }) => uri) // => [ 'skill://refunds/SKILL.md' ]
 * ```
 */
export function serveSkills(skills: readonly Skill[]): ServedSkills {
  const served = known.get(skills) ?? new SkillShelf(skills)
  known.set(skills, served)
  return served
}

/** Whether clients accept a skill: its own name, and a text that is here. */
function isServable({ name, fields, files, load }: Skill): boolean {
  return !load && NAME.test(name) && fields['name'] === name && files.length < MAX_SERVED_SKILL_FILES
}

interface Placed {
  readonly skill: Skill
  /** The URI of its folder, with a slash at the end. */
  readonly folder: string
}

class SkillShelf implements ServedSkills {
  readonly #placed = new Map<string, Placed>()
  readonly #entries = new Map<string, Promise<WireSkill>>()
  readonly refused: readonly Skill[]

  constructor(skills: readonly Skill[]) {
    this.refused = skills.filter((skill) => !isServable(skill))
    for (const skill of skills.filter(isServable)) {
      const { name, key } = skill
      // Two skills of one name are told apart by the folders around them.
      let folder = `${SKILL_SCHEME}${name}/`
      if (key !== name) folder = `${SKILL_SCHEME}${toKey(skill.category) || 'skills'}/${name}/`
      this.#placed.set(folder, { skill, folder })
    }
  }

  get resources(): readonly JsonObject[] {
    return Array.from(this.#placed.values(), toResource)
  }

  get forModels(): readonly JsonObject[] {
    return [...this.#placed.values()].filter(({ skill }) => skill.isForModels).map(toResource)
  }

  get instructions(): string {
    // A line break would begin another skill.
    const lines = this.forModels.map(({ uri, description }) => `- ${String(uri)}: ${toLine(String(description))}`)
    if (lines.length === 0) return ''
    const list = lines.join('\n')
    const shown = shorten(list, MAX_SKILL_INSTRUCTIONS)
    return `This server has skills: instructions for tasks. Read the resource of one before you do what it is about:\n${shown}`
  }

  has(uri: string): boolean {
    return this.#find(`${uri}/`) !== undefined
  }

  describe(uri: string): Promise<WireSkill> | undefined {
    if (!uri.endsWith(`/${MANIFEST}`)) return undefined
    const placed = this.#placed.get(uri.slice(0, -MANIFEST.length))
    if (!placed) return undefined
    const entry = this.#entries.get(uri) ?? describeSkill(placed)
    this.#entries.set(uri, entry)
    entry.catch(() => this.#entries.delete(uri))
    return entry
  }

  async read(uri: string): Promise<JsonObject | undefined> {
    const placed = this.#find(uri)
    const bytes = placed && (await readBytes(placed, uri))
    if (!placed || !bytes) return undefined
    const manifest = `${placed.folder}${MANIFEST}`
    const entry = await this.#entries.get(manifest)
    // A changed file gets a new digest in the next list.
    if (isObject(entry) && entry.resources !== 'dynamic') {
      const listed = entry.resources.find((file) => file.uri === uri)
      if (listed?.digest !== getDigest(bytes)) this.#entries.delete(manifest)
    }
    return { contents: [{ uri, mimeType: getType(uri), ...toContent(bytes) }] }
  }

  async list(uri: string): Promise<readonly JsonObject[] | undefined> {
    const folder = `${uri.replace(/\/$/, '')}/`
    const placed = this.#find(folder)
    if (!placed) return undefined
    const entry = await this.describe(`${placed.folder}${MANIFEST}`)
    const inside = (entry && entry.resources !== 'dynamic' ? entry.resources : []).filter((file) =>
      file.uri.startsWith(folder),
    )
    if (inside.length === 0) return undefined
    const children = new Map<string, JsonObject>()
    for (const file of inside) {
      const [name = '', ...below] = file.uri.slice(folder.length).split('/')
      const child = `${folder}${name}`
      const listed = { uri: child, name: decodeURIComponent(name) }
      if (below.length > 0) children.set(child, { ...listed, mimeType: FOLDER_TYPE })
      else children.set(child, { ...listed, mimeType: getType(file.uri), size: file.size })
    }
    return [...children.values()]
  }

  /** Finds the skill that a URI is in, by the folders of the URI. */
  #find(uri: string): Placed | undefined {
    if (!uri.startsWith(SKILL_SCHEME)) return undefined
    for (let end = uri.indexOf('/', SKILL_SCHEME.length); end !== -1; end = uri.indexOf('/', end + 1)) {
      const placed = this.#placed.get(uri.slice(0, end + 1))
      if (placed) return placed
      if (end > SKILL_SCHEME.length + 200) break
    }
    return undefined
  }
}

function toResource({ skill: { name, description }, folder }: Placed): JsonObject {
  return { uri: `${folder}${MANIFEST}`, name, description, mimeType: MARKDOWN }
}

async function describeSkill(placed: Placed): Promise<WireSkill> {
  const { skill, folder } = placed
  const paths = [MANIFEST, ...skill.files.map(({ path }) => path)]
  const resources: WireFile[] = []
  let total = 0
  for (const path of paths) {
    const uri = `${folder}${encodePath(path)}`
    // It may be gone, or not be what somebody trusted.
    const bytes = await ignore(readBytes(placed, uri), 'a file that cannot be read is not listed')
    total += bytes?.length ?? 0
    if (total > MAX_SERVED_SKILL_BYTES) break
    if (bytes) resources.push({ uri, digest: getDigest(bytes), size: bytes.length })
  }
  return { uri: `${folder}${MANIFEST}`, frontmatter: skill.fields, resources }
}

function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}

async function readBytes({ skill, folder }: Placed, uri: string): Promise<Uint8Array | undefined> {
  const path = uri.slice(folder.length)
  if (path === MANIFEST) return new TextEncoder().encode(skill.text)
  const file = skill.files.find((each) => encodePath(each.path) === path)
  return file && (await file.read())
}

/** A text, if it has the same bytes again when it is read; otherwise a blob. */
function toContent(bytes: Uint8Array): JsonObject {
  const text = decodeText(bytes)
  if (text !== undefined && new TextEncoder().encode(text).length === bytes.length) return { text }
  let binary = ''
  for (let at = 0; at < bytes.length; at += 8192) binary += String.fromCharCode(...bytes.subarray(at, at + 8192))
  return { blob: btoa(binary) }
}

function getType(uri: string): string {
  const ending = uri.slice(uri.lastIndexOf('.') + 1).toLowerCase()
  return TYPES.get(ending) ?? 'text/plain'
}
