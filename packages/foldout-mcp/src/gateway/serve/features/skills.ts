import type { FeatureContext, ServedSkills } from 'foldout/mcp'
import { ignore } from 'foldout/promises'
import { isObject, type JsonObject } from 'foldout-shared/values'
import type { GatewayServer } from '../../servers/server.ts'
import type { Listed } from '../../model/snapshot.ts'
import { createError, forward, INVALID_PARAMS, toPage } from './forward.ts'
import { MAX_SKILL_PAGES, MAX_SKILLS } from './limits.ts'
import { toForeignUri, type Route } from './uris.ts'

/** The extension for skills. */
const SKILLS = 'io.modelcontextprotocol/skills'
const MANIFEST = '/SKILL.md'

/** What a server declares about skills; undefined if it has none. */
function findSettings({ snapshot }: GatewayServer): JsonObject | undefined {
  const extensions = snapshot?.capabilities['extensions']
  const settings = isObject(extensions) && extensions[SKILLS]
  if (isObject(settings)) return settings
  return undefined
}

/** The capability of a client's view: skills, if the gateway or a server has some. */
export function getSkillExtension(
  servers: readonly GatewayServer[],
  own: ServedSkills | undefined,
): Readonly<Record<string, object>> {
  const able = servers.filter(findSettings)
  if (able.length === 0 && !own) return {}
  const directoryRead = own !== undefined || able.some((server) => findSettings(server)?.['directoryRead'] === true)
  return { [SKILLS]: { ...(directoryRead && { directoryRead }) } }
}

/** The skills to announce: the gateway's own, and those in the servers' lists of resources. */
export function listAnnounced(resources: readonly Listed[], own: ServedSkills | undefined): readonly Listed[] {
  const isForeign = ({ uri }: Listed): boolean =>
    typeof uri === 'string' && uri.includes('skill://') && uri.endsWith(MANIFEST) && !own?.has(uri)
  return [...(own?.forModels ?? []), ...resources.filter(isForeign)]
}

interface SkillSources {
  getServers(): readonly GatewayServer[]
  /** The gateway's own skills. */
  getOwn(): ServedSkills | undefined
  /** The URI that clients see for a server's. */
  name(server: GatewayServer, uri: string): string
}

/** A skill, under the URI that clients see. */
interface SkillRoute {
  readonly server: GatewayServer
  /** The server's own URI of its folder. */
  readonly own: string
}

/**
 * The skills of all servers. A skill whose URI another server has too gets the name of its server, as other resources do.
 * Digests and front matter stay as they are, so clients check what the server itself has listed.
 */
export class SkillDirectory {
  readonly #sources: SkillSources
  /** By the URIs of their folders, as clients see them. */
  readonly #routes = new Map<string, SkillRoute>()

  constructor(sources: SkillSources) {
    this.#sources = sources
  }

  /** Answers the methods of the extension; undefined for all others. */
  async answer(method: string, params: JsonObject, context: FeatureContext): Promise<JsonObject | undefined> {
    const own = this.#sources.getOwn()
    if (!own && !this.#sources.getServers().some(findSettings)) return undefined
    if (method === 'skills/list') {
      const all = [...(own ? await describeAll(own) : []), ...(await this.#list(context))]
      return toPage('skills', all, 'uri', params)
    }
    const field = { 'skills/get': 'skill', 'resources/directory/read': 'resources' }[method]
    if (field === undefined) return undefined
    const uri = String(params['uri'])
    if (own?.has(uri)) return answerOwn(own, field, uri, params)
    const route = await this.find(method === 'skills/get' ? uri : `${uri.replace(/\/$/, '')}/`, context)
    if (!route) throw createMissing(uri)
    const asked = method === 'skills/get' ? route.own : route.own.slice(0, -1)
    const result = await forward(route.server, method, { ...params, uri: asked }, context)
    return { ...result, [field]: this.#rename(route.server, result[field]) }
  }

  /** Finds the server of a skill's file or folder. Asks the servers for their skills if nobody has done so yet. */
  async find(uri: string, context: FeatureContext): Promise<Route | undefined> {
    const known = this.#findKnown(uri)
    if (known || !uri.includes('skill://')) return known
    await this.#list(context)
    return this.#findKnown(uri)
  }

  #findKnown(uri: string): Route | undefined {
    for (let end = uri.lastIndexOf('/'); end > 0; end = uri.lastIndexOf('/', end - 1)) {
      const route = this.#routes.get(uri.slice(0, end))
      const isThere = route && this.#sources.getServers().some(({ name }) => name === route.server.name)
      if (route && isThere) return { server: route.server, own: `${route.own}${uri.slice(end)}` }
    }
    return undefined
  }

  async #list(context: FeatureContext): Promise<readonly Listed[]> {
    const servers = this.#sources.getServers().filter(findSettings)
    const lists = servers.map((server) => ignore(listSkills(server, context), 'a server that is down has no skills'))
    const entries: Listed[] = []
    for (const [at, list] of (await Promise.all(lists)).entries()) {
      const server = servers[at]
      for (const entry of list ?? [])
        if (server && typeof entry['uri'] === 'string') entries.push(this.#rename(server, entry) as Listed)
    }
    return entries
  }

  /** A skill, or a list of files, with the URIs that clients see. */
  #rename(server: GatewayServer, value: unknown): unknown {
    const rename = (item: unknown): unknown => {
      if (!isObject(item) || typeof item['uri'] !== 'string') return item
      return { ...item, uri: this.#toSeen(server, item['uri']) }
    }
    if (Array.isArray(value)) return value.map(rename)
    const skill = rename(value)
    if (!isObject(skill) || !Array.isArray(skill['resources'])) return skill
    return { ...skill, resources: skill['resources'].map(rename) }
  }

  #toSeen(server: GatewayServer, uri: string): string {
    const foreign = toForeignUri(server.name, uri)
    if (this.#findKnown(foreign)) return foreign
    const isManifest = uri.endsWith(MANIFEST) && this.#findKnown(uri)?.server.name !== server.name
    if (!isManifest) return uri
    const seen = this.#sources.name(server, uri)
    if (this.#routes.size < MAX_SKILLS)
      this.#routes.set(seen.slice(0, -MANIFEST.length), { server, own: uri.slice(0, -MANIFEST.length) })
    return seen
  }
}

async function describeAll(own: ServedSkills): Promise<readonly Listed[]> {
  const entries = await Promise.all(own.resources.map(async ({ uri }) => own.describe(String(uri))))
  return entries.flatMap((entry) => (entry ? [{ ...entry }] : []))
}

async function answerOwn(own: ServedSkills, field: string, uri: string, params: JsonObject): Promise<JsonObject> {
  if (field === 'skill') {
    const skill = await own.describe(uri)
    if (skill) return { skill }
  } else {
    const inside = await own.list(uri)
    if (inside) return toPage(field, inside, 'uri', params)
  }
  throw createMissing(uri)
}

function createMissing(uri: string): Error {
  return createError(INVALID_PARAMS, `There is no skill with the URI ${uri.slice(0, 200)}.`)
}

async function listSkills(server: GatewayServer, context: FeatureContext): Promise<readonly Listed[]> {
  const entries: Listed[] = []
  let cursor: unknown
  for (let page = 0; page < MAX_SKILL_PAGES && entries.length < MAX_SKILLS; page++) {
    const result = await forward(server, 'skills/list', { ...(cursor !== undefined && { cursor }) }, context)
    const { skills, nextCursor } = result
    if (Array.isArray(skills))
      for (const entry of skills as readonly unknown[]) if (isObject(entry)) entries.push(entry)
    if (typeof nextCursor !== 'string' || nextCursor === '' || nextCursor === cursor) break
    cursor = nextCursor
  }
  return entries.slice(0, MAX_SKILLS)
}
