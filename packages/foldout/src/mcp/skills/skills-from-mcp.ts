import { isObject } from 'foldout-shared/values'
import { FoldoutError } from '../../core/errors.ts'
import { sha256Hex } from '../../core/hash.ts'
import { canonicalJson, toJson, type JsonObject as Fields } from '../../core/json/json.ts'
import { decodeText, shorten } from '../../core/text.ts'
import { toVisibleText } from '../../core/visible-text.ts'
import { MAX_SKILL_BYTES } from '../../sections/skills/limits.ts'
import { readMetadata } from '../../sections/skills/metadata.ts'
import { readSkill, toKey } from '../../sections/skills/read-skill.ts'
import type { TrustSkill } from '../../sections/skills/read-skills.ts'
import type { Skill, SkillFile, SkillText } from '../../sections/skills/skill.ts'
import type { McpClient } from '../client/client.ts'
import { toSession } from '../client/sdk-session.ts'
import { getServerName, type McpSession } from '../client/session.ts'
import { MAX_SKILL_PAGES, MAX_SERVED_SKILLS } from '../limits.ts'
import { requestFromMcp } from '../tools-from/request.ts'
import { type ListedSkill, findSkillCapability, getDigest, MANIFEST, readListedSkill, type WireSkill } from './wire.ts'

/**
 * Options of {@link skillsFromMcp}.
 *
 * @example
 * ```ts
 * const options: SkillsFromMcpOptions = { onWarning: console.warn, trust: ({ digest }) => approvedDigests.has(digest) }
 * ```
 */
export interface SkillsFromMcpOptions {
  /** The name of the server. Default: derived from what it says about itself. */
  readonly server?: string
  readonly signal?: AbortSignal
  /**
   * Whether a skill may reach the model. Asked with the digest of what the server lists, before anything of the skill is
   * read. Default: all may.
   */
  readonly trust?: TrustSkill
  /** Called for each skill that is left out, with the reason. */
  readonly onWarning?: (message: string) => void
}

/**
 * Lists the skills of an MCP server, by the extension `io.modelcontextprotocol/skills`. Their files are read when they are
 * needed, and have to be what the server has listed. Pass the skills to `skillSections`, with the server's tools.
 *
 * @example
 * const tools = await toolsFromMcp(client)
 * const sections = await skillSections(await skillsFromMcp(client), { tools })
 */
export async function skillsFromMcp(
  client: McpClient | McpSession,
  options: SkillsFromMcpOptions = {},
): Promise<readonly Skill[]> {
  const session = toSession(client)
  const { server = getServerName(session), trust, onWarning = () => undefined } = options
  if (!findSkillCapability(session.server.capabilities)) return []
  const skills = new Map<string, Skill>()
  for (const entry of await listSkills(session, options)) {
    const read = readListedSkill(entry)
    if (typeof read === 'string') {
      onWarning(`A skill of the server '${server}' is left out: ${read}.`)
      continue
    }
    const skill = toSkill(read, session, server)
    const { key, name, digest, scope, folder } = skill
    const isTaken = skills.has(key)
    if (key === '' || isTaken)
      onWarning(
        `The skill '${shorten(name)}' of the server '${server}' is left out: ${isTaken ? 'another one has the same name' : 'its name has no letters'}.`,
      )
    else if (trust && !(await trust({ name, digest, scope, folder })))
      onWarning(`The skill '${shorten(name)}' of the server '${server}' is left out, because it is not trusted.`)
    else skills.set(key, skill)
  }
  return [...skills.values()]
}

async function listSkills(session: McpSession, { signal }: SkillsFromMcpOptions): Promise<readonly unknown[]> {
  const entries: unknown[] = []
  let cursor: unknown
  for (let page = 0; page < MAX_SKILL_PAGES && entries.length < MAX_SERVED_SKILLS; page++) {
    const params = { ...(cursor !== undefined && { cursor }) }
    const { skills, nextCursor } = await requestFromMcp(session, 'skills/list', params, { signal })
    if (Array.isArray(skills)) for (const entry of skills as readonly unknown[]) entries.push(entry)
    if (typeof nextCursor !== 'string' || nextCursor === '' || nextCursor === cursor) break
    cursor = nextCursor
  }
  return entries.slice(0, MAX_SERVED_SKILLS)
}

function toSkill(entry: ListedSkill, session: McpSession, server: string): Skill {
  const { uri, frontmatter, resources } = entry
  const fields = (toJson(frontmatter) ?? {}) as Fields
  const name = toVisibleText(entry.name).trim()
  const folder = uri.slice(0, -MANIFEST.length)
  const read = (file: string, signal?: AbortSignal): Promise<Uint8Array> => readFile(session, entry, file, signal)
  const toFile = (file: string, size: number | undefined): SkillFile => ({
    path: file.slice(folder.length),
    size,
    read: () => read(file),
  })
  const listed = resources === 'dynamic' ? [] : resources
  return {
    name: shorten(name, 200),
    key: toKey(name),
    description: toVisibleText(entry.description).trim(),
    ...readMetadata(fields),
    fields,
    body: '',
    text: '',
    warnings: [],
    digest: `sha256:${sha256Hex(canonicalJson(toJson({ uri, frontmatter, resources }) ?? null))}`,
    path: uri.slice(0, -MANIFEST.length - 1),
    category: server,
    files: listed.filter((file) => file.uri !== uri).map((file) => toFile(file.uri, file.size)),
    folder: undefined,
    scope: 'server',
    load: async (signal) => checkText(await read(uri, signal), entry, server),
    ...(resources === 'dynamic' && { findFile: async (path: string) => toFile(`${folder}${path}`, undefined) }),
  }
}

/** Reads a file, which must be the one that the server has listed. */
async function readFile(
  session: McpSession,
  { resources }: WireSkill,
  uri: string,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const { contents } = await requestFromMcp(session, 'resources/read', { uri }, { signal })
  const all = Array.isArray(contents) ? (contents as readonly unknown[]) : []
  const found = all.find((content) => isObject(content) && content['uri'] === uri)
  const bytes = toBytes(found)
  if (!bytes) throw invalid(`The server has no content of ${shorten(uri, 200)}.`)
  if (resources === 'dynamic') return bytes
  const listed = resources.find((file) => file.uri === uri)
  if (!listed) throw invalid(`${shorten(uri, 200)} is not a file of the skill.`)
  if (listed.size !== bytes.length || listed.digest !== getDigest(bytes))
    throw invalid(`${shorten(uri, 200)} is not what the server has listed. It is not read; list the skills again.`)
  return bytes
}

function toBytes(content: unknown): Uint8Array | undefined {
  if (!isObject(content)) return undefined
  const { text, blob } = content
  if (typeof text === 'string') return new TextEncoder().encode(text)
  if (typeof blob !== 'string') return undefined
  try {
    return Uint8Array.from(atob(blob), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

/** Reads a `SKILL.md`, whose front matter must be the one that the server has listed. */
async function checkText(bytes: Uint8Array, { uri, frontmatter }: WireSkill, server: string): Promise<SkillText> {
  if (bytes.length > MAX_SKILL_BYTES)
    throw invalid(
      `${shorten(uri, 200)} of the server '${server}' has more than ${MAX_SKILL_BYTES} bytes. It is not read.`,
    )
  const text = decodeText(bytes)
  if (text === undefined) throw invalid(`${shorten(uri, 200)} of the server '${server}' is not text in UTF-8.`)
  const read = await readSkill(text, uri)
  if (canonicalJson(read.fields) === canonicalJson(toJson(frontmatter) ?? null)) return read
  throw invalid(
    `${shorten(uri, 200)} of the server '${server}' says something else about itself than the list of skills.`,
  )
}

function invalid(message: string): FoldoutError {
  return new FoldoutError('skill-invalid', message)
}
