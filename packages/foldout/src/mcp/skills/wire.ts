import { isObject } from 'foldout-shared/values'
import { isDeeperThan } from '../../core/json/measure.ts'
import { createBytesHash } from '../../core/hash.ts'
import { MAX_FRONT_MATTER_DEPTH } from '../limits.ts'
import type { JsonObject } from '../protocol/messages.ts'

/** The extension of MCP for skills. */
export const SKILLS = 'io.modelcontextprotocol/skills'
export const SKILL_SCHEME = 'skill://'
export const MANIFEST = 'SKILL.md'

/** A file of a skill, as servers list it. */
export interface WireFile {
  readonly uri: string
  /** `sha256:` and 64 hexadecimal digits, of its bytes. */
  readonly digest: string
  /** In bytes. */
  readonly size: number
}

/** A skill, as servers list it. */
export interface WireSkill {
  /** The URI of its `SKILL.md`. */
  readonly uri: string
  readonly frontmatter: JsonObject
  /** All of its files, or `dynamic` if the server makes them when they are read. */
  readonly resources: readonly WireFile[] | 'dynamic'
}

/** A skill of a server's list. */
export interface ListedSkill extends WireSkill {
  readonly name: string
  readonly description: string
}

export function getDigest(bytes: Uint8Array): string {
  const hash = createBytesHash()
  hash.update(bytes)
  return `sha256:${hash.digest()}`
}

/** What a server declares about skills; undefined if it has none. */
export function findSkillCapability(capabilities: JsonObject): JsonObject | undefined {
  const { extensions } = capabilities
  if (!isObject(extensions) || !Object.hasOwn(extensions, SKILLS)) return undefined
  const settings = extensions[SKILLS]
  if (isObject(settings)) return settings
  return undefined
}

const DIGEST = /^sha256:[0-9a-f]{64}$/

/** Reads an entry of a server's list; a text says what is wrong with it. */
export function readListedSkill(entry: unknown): ListedSkill | string {
  if (!isObject(entry)) return 'it is not an object'
  const { uri, frontmatter, resources } = entry
  if (typeof uri !== 'string' || !uri.endsWith(`/${MANIFEST}`)) return `its uri is not the one of a ${MANIFEST}`
  if (!isObject(frontmatter)) return 'it has no front matter'
  if (isDeeperThan(frontmatter, MAX_FRONT_MATTER_DEPTH)) return 'its front matter is nested too deep'
  const { name, description } = frontmatter
  if (typeof name !== 'string' || typeof description !== 'string') return 'its front matter has no name or description'
  if (uri.split('/').at(-2) !== name) return 'its uri does not end with its name'
  if (resources === 'dynamic') return { uri, name, description, frontmatter, resources }
  if (!Array.isArray(resources)) return 'it has no list of resources'
  const folder = uri.slice(0, -MANIFEST.length)
  const files: WireFile[] = []
  const uris = new Set<string>()
  for (const file of resources as readonly unknown[]) {
    if (!isWireFile(file) || !file.uri.startsWith(folder) || uris.has(file.uri))
      return 'a resource has no URI in the skill, no digest, or no size, or is listed twice'
    uris.add(file.uri)
    files.push({ uri: file.uri, digest: file.digest, size: file.size })
  }
  return uris.has(uri)
    ? { uri, name, description, frontmatter, resources: files }
    : `its resources do not include its ${MANIFEST}`
}

function isWireFile(file: unknown): file is WireFile {
  if (!isObject(file)) return false
  const { uri, digest, size } = file
  return (
    typeof uri === 'string' &&
    typeof digest === 'string' &&
    DIGEST.test(digest) &&
    Number.isSafeInteger(size) &&
    Number(size) >= 0
  )
}
