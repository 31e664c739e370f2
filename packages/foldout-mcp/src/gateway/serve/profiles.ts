import type { CallClient, Catalog } from 'foldout/catalog'
import type { CallPipeline } from '../calls/pipeline.ts'
import { MAX_ALL_PROFILES, MAX_PROFILES, MAX_PROFILES_OF_USER } from '../policy/limits.ts'
import type { Who } from '../policy/rules/rules.ts'
import type { ViewFeatures } from './features/features.ts'

/** What is served to clients that the rules treat alike. */
export interface Profile {
  /** One of these clients. */
  readonly who: Who
  readonly catalog: Catalog
  readonly features: ViewFeatures
  readonly calls: CallPipeline
}

export interface Profiles {
  get(who: Who): Profile
  all(): Iterable<Profile>
}

/** Keeps one value per set of clients that rules treat alike. Without such rules, there is one for all. */
export function createProfiles(create: (who: Who) => Profile, getProfile: (who: Who) => string): Profiles {
  const made = new Map<string, Profile>()
  /** How many were made for each user; those without a token count as one. */
  const counts = new Map<string | undefined, number>()
  return {
    all: () => made.values(),
    get(who) {
      const profile = getProfile(who)
      const known = made.get(profile)
      if (known) return known
      // Clients choose their own names, and must fill neither the memory with them nor the room of other users.
      const count = counts.get(who.user) ?? 0
      const most = who.user === undefined ? MAX_PROFILES : MAX_PROFILES_OF_USER
      if (count >= most || made.size >= MAX_ALL_PROFILES)
        throw new Error('The rules distinguish more kinds of clients than the gateway can serve.')
      counts.set(who.user, count + 1)
      const one = create(who)
      made.set(profile, one)
      return one
    },
  }
}

/** Gives clients ids that no client of another view has. */
export function createScope(view: string): <Client extends CallClient>(client: Client) => Client {
  // A client is the same object in all of its calls.
  const scoped = new WeakMap<CallClient, CallClient>()
  return <Client extends CallClient>(client: Client): Client => {
    const known = scoped.get(client) as Client | undefined
    if (known) return known
    const one = { ...client, id: `${view}/${client.id}` }
    scoped.set(client, one)
    return one
  }
}
