import { decodeUrlPart } from 'foldout-shared/url-text'
import { join } from 'node:path'
import { createSignInStore } from '../auth/store.ts'
import { UsageError } from '../config/config.ts'
import type { StoreDefinition } from '../config/definition.ts'
import { fillVariables, type Variables } from '../config/variables.ts'
import { createApprovalFiles } from '../policy/approvals/approval-files.ts'
import { createPinFiles } from '../policy/pins/pins.ts'
import { createMemoryQuotas } from '../policy/quotas/quota-store.ts'
import type { Secrets } from '../policy/secrets/secrets.ts'
import { getCacheFolder, getDataFolder } from '../../shared/surroundings.ts'
import { createCatalogCache } from '../upstreams/catalog-cache.ts'
import type { GatewayStore } from './contract/gateway-store.ts'

/** The settings of a shared store, with variables filled in. */
export interface StoreSettings {
  readonly url: string
  readonly schema: string | undefined
  readonly key: string | undefined
  readonly keyFile: string | undefined
}

/** Where the settings of a store come from. */
export interface StoreSources {
  readonly store?: string | StoreDefinition
  readonly env?: Variables['env']
  readonly root?: string
}

/** The store that a configuration or an option names. From now on, its password is treated as a secret. */
export function readStoreSettings(
  config: { readonly store: string | StoreDefinition | undefined },
  { store, env = process.env, root = process.cwd() }: StoreSources,
  secrets: Secrets,
): StoreSettings | undefined {
  return fillStore(store ?? config.store, { env, root }, secrets)
}

/**
 * Fills in the variables of a store, and hides its secrets from now on. Undefined if there is no store.
 *
 * @throws UsageError that names what is missing, without revealing secrets.
 */
export function fillStore(
  given: string | StoreDefinition | undefined,
  variables: Variables,
  secrets: Secrets,
): StoreSettings | undefined {
  if (given === undefined) return undefined
  const { url, schema, key, keyFile } = typeof given === 'string' ? { url: given } : given
  const fill = (text: string): string => {
    try {
      return fillVariables(text, variables)
    } catch (error) {
      throw new UsageError(`The "store" cannot be used. ${(error as Error).message}`)
    }
  }
  const { env } = variables
  const hasKey = key !== undefined || keyFile !== undefined
  const settings = {
    url: fill(url),
    schema,
    key: hasKey ? key && fill(key) : env['FOLDOUT_STORE_KEY'] || undefined,
    keyFile: hasKey ? keyFile && fill(keyFile) : env['FOLDOUT_STORE_KEY_FILE'] || undefined,
  }
  secrets.add(findStoreSecrets(settings))
  if (!/^postgres(?:ql)?:\/\//.test(settings.url) || !URL.canParse(settings.url))
    throw new UsageError(
      'The "store" must be the URL of a PostgreSQL database: postgres://user:password@host:5432/database.',
    )
  return settings
}

/** The whole URL, its password, and the key. */
function findStoreSecrets({ url, key }: StoreSettings): readonly string[] {
  const { password = '', searchParams } = URL.canParse(url) ? new URL(url) : {}
  const given = [password, decodeUrlPart(password), searchParams?.get('password') ?? '']
  return [...(given.some((text) => text !== '') ? [url] : []), ...given, ...(key?.split(/[\s,]+/) ?? [])]
}

/**
 * Opens the database that gateways share, or the user's files.
 *
 * @throws UsageError if the database cannot be used, or an error if it is unreachable.
 */
export async function openStore(settings: StoreSettings | undefined, files: FileStoreOptions): Promise<GatewayStore> {
  if (!settings) return createFileStore(files)
  const { openPostgresStore } = await loadPostgresStore()
  return openPostgresStore({ ...settings, onProblem: files.onProblem })
}

/** Most gateways have no database. They do not load this, and the package with its driver need not be installed. */
async function loadPostgresStore() {
  try {
    return await import('./postgres/store.ts')
  } catch (error) {
    const { message } = error as Error
    if (!message.includes('foldout-fleet')) throw error
    throw new UsageError(
      `A store in PostgreSQL needs the package foldout-fleet, which cannot be loaded. Run: npm install foldout-fleet. The reason: ${message}`,
    )
  }
}

export interface FileStoreOptions {
  readonly env: NodeJS.ProcessEnv
  /** Where the servers' tools are kept. Default: the user's cache folder. */
  readonly cache: string | undefined
  /** Where the user's decisions are kept. Default: the user's data folder. */
  readonly data: string | undefined
  onProblem(message: string): void
}

/** Keeps everything in the user's files. Quotas apply to this process only. */
export function createFileStore({ env, cache, data, onProblem }: FileStoreOptions): GatewayStore {
  const folder = data ?? getDataFolder(env)
  return {
    isShared: false,
    catalogs: createCatalogCache(cache ?? getCacheFolder(env), { env, keyFile: join(folder, 'cache.key'), onProblem }),
    approvals: createApprovalFiles(join(folder, 'approvals')),
    pins: createPinFiles(join(folder, 'pins'), onProblem),
    signIns: createSignInStore({ env, onProblem }),
    quotas: createMemoryQuotas(),
    audit: undefined,
    results: undefined,
    gateways: { mark: undefined, join: async () => undefined, list: async () => [], leave: async () => undefined },
    async openSessions() {
      const { createMemoryStore } = await import('foldout')
      return createMemoryStore()
    },
    close: async () => undefined,
  }
}
