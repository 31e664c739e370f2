import { FoldoutError, getErrorMessage } from '../../core/errors.ts'
import { createBytesHash } from '../../core/hash.ts'
import { isObject } from 'foldout-shared/values'
import { decodeText, shorten } from '../../core/text.ts'
import { toVisibleText } from '../../core/visible-text.ts'
import { MAX_SKILL_BYTES, MAX_SKILL_INDEX_BYTES, MAX_WEB_SKILLS } from './limits.ts'
import { readMetadata } from './metadata.ts'
import { readSkill, toKey } from './read-skill.ts'
import type { Skill, SkillText } from './skill.ts'

/**
 * Options of {@link skillsFromWeb}.
 *
 * @example
 * ```ts
 * const options: SkillsFromWebOptions = { onWarning: console.warn }
 * ```
 */
export interface SkillsFromWebOptions {
  /** Default: the one of the runtime. */
  readonly fetch?: (
    url: string,
    init: { readonly signal?: AbortSignal; readonly redirect: 'error' },
  ) => Promise<Response>
  readonly signal?: AbortSignal
  /** Called for each skill that is left out, with the reason. */
  readonly onWarning?: (message: string) => void
}

const INDEX = '/.well-known/agent-skills/index.json'
const DIGEST = /^sha256:[0-9a-f]{64}$/

/**
 * Reads the list of skills that a website has at `/.well-known/agent-skills/index.json`. The text of a skill is fetched when
 * it is opened, and has to have the digest of the list. Skills of another site, without a digest, or in archives are left
 * out.
 *
 * @example
 * ```ts
 * const readSite = async (site: string) => skillSections(await skillsFromWeb(site))
 * ```
 */
export async function skillsFromWeb(site: string, options: SkillsFromWebOptions = {}): Promise<readonly Skill[]> {
  const { onWarning = () => undefined } = options
  if (!URL.canParse(INDEX, site))
    throw new FoldoutError('skill-invalid', `'${shorten(site, 200)}' is not the URL of a website.`)
  const index = new URL(INDEX, site)
  const list = parseIndex(toText(await fetchBytes(index, MAX_SKILL_INDEX_BYTES, options), index))
  const skills = new Map<string, Skill>()
  for (const entry of list.slice(0, MAX_WEB_SKILLS)) {
    const skill = toSkill(entry, index, options)
    if (typeof skill === 'string') onWarning(`A skill of ${index.host} is left out: ${skill}.`)
    else if (skills.has(skill.key)) onWarning(`The skill '${skill.key}' of ${index.host} is there twice.`)
    else skills.set(skill.key, skill)
  }
  return [...skills.values()]
}

function parseIndex(text: string): readonly unknown[] {
  try {
    const index: unknown = JSON.parse(text)
    if (isObject(index) && Array.isArray(index['skills'])) return index['skills'] as readonly unknown[]
  } catch {
    // Explained below.
  }
  throw new FoldoutError('skill-invalid', `The file ${INDEX} is not a list of skills.`)
}

function toSkill(entry: unknown, index: URL, options: SkillsFromWebOptions): Skill | string {
  if (!isObject(entry)) return 'it is not an object'
  const { name, description, url, digest, type = 'skill-md' } = entry
  if (typeof name !== 'string' || typeof description !== 'string' || toKey(name) === '')
    return 'it has no name or description'
  if (type !== 'skill-md') return `'${shorten(name)}' is not a SKILL.md`
  if (typeof digest !== 'string' || !DIGEST.test(digest)) return `'${shorten(name)}' has no digest`
  if (typeof url !== 'string' || !URL.canParse(url, index.href)) return `'${shorten(name)}' has no URL`
  const place = new URL(url, index)
  if (place.origin !== index.origin) return `'${shorten(name)}' is on another site`
  return {
    name: shorten(toVisibleText(name).trim(), 200),
    key: toKey(name),
    description: toVisibleText(description).trim(),
    ...readMetadata({}),
    fields: { name, description },
    body: '',
    text: '',
    warnings: [],
    digest,
    path: place.pathname,
    category: index.host,
    files: [],
    folder: undefined,
    scope: 'server',
    load: (signal) => loadText(place, digest, { ...options, ...(signal && { signal }) }),
  }
}

async function loadText(place: URL, digest: string, options: SkillsFromWebOptions): Promise<SkillText> {
  const bytes = await fetchBytes(place, MAX_SKILL_BYTES, options)
  const hash = createBytesHash()
  hash.update(bytes)
  if (`sha256:${hash.digest()}` === digest) return readSkill(toText(bytes, place), place.pathname)
  throw new FoldoutError('skill-invalid', `${place.href} is not what the site has listed. It is not read.`)
}

function toText(bytes: Uint8Array, url: URL): string {
  const text = decodeText(bytes)
  if (text !== undefined) return text
  throw new FoldoutError('skill-invalid', `${url.href} is not text in UTF-8. It is not read.`)
}

/** Reads at most so many bytes. Whatever goes wrong, the message says where. */
async function fetchBytes(url: URL, most: number, options: SkillsFromWebOptions): Promise<Uint8Array> {
  const { fetch = globalThis.fetch, signal } = options
  try {
    const response = await fetch(url.href, { redirect: 'error', ...(signal && { signal }) })
    if (!response.ok) throw new FoldoutError('skill-invalid', `${url.href} answers with ${response.status}.`)
    return await readBody(response, url, most)
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof FoldoutError) throw error
    throw new FoldoutError('skill-invalid', `${url.href} cannot be read: ${getErrorMessage(error)}`, { cause: error })
  }
}

async function readBody({ body }: Response, url: URL, most: number): Promise<Uint8Array> {
  const reader = body?.getReader()
  const parts: Uint8Array[] = []
  let size = 0
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    size += part.value.length
    if (size > most) {
      await reader?.cancel()
      throw new FoldoutError('skill-invalid', `${url.href} has more than ${most} bytes. It is not read.`)
    }
    parts.push(part.value)
  }
  const bytes = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}
