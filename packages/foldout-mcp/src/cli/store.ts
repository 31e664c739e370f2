import { existsSync } from 'node:fs'
import { readGatewayConfig } from '../gateway/config/read-config.ts'
import type { GatewayConfig } from '../gateway/config/config.ts'
import { createSecrets } from '../gateway/policy/secrets/secrets.ts'
import type { GatewayStore } from '../gateway/store/contract.ts'
import { fillStore, openStore, type StoreSettings } from '../gateway/store/open.ts'
import { DEFAULT_CONFIGS } from '../gateway/config/own-entry.ts'
import type { Surroundings } from './session.ts'
import { toLine } from './text.ts'

/** The store a command works with. */
export interface StoreOptions {
  readonly store?: string
  readonly config?: readonly string[]
  /** The folder with the user's decisions. */
  readonly data?: string
}

export const STORE_OPTION = ['--store <url>', 'the database that the gateways share, postgres://…'] as const

/** Opens the store named on the command line or in the configuration, or else the user's files. Closes it at the end. */
export async function withStore<Result>(
  options: StoreOptions,
  surroundings: Surroundings,
  use: (store: GatewayStore, config: GatewayConfig | undefined, settings: StoreSettings | undefined) => Promise<Result>,
): Promise<Result> {
  const { env, stderr } = surroundings
  const isNamed = options.store !== undefined || options.data !== undefined
  const config = isNamed && !options.config ? undefined : await findConfig(options)
  const secrets = createSecrets()
  const given = options.store ?? (options.data === undefined ? config?.store : undefined)
  const settings = fillStore(given, { env, root: process.cwd() }, secrets)
  const store = await openStore(settings, {
    env,
    cache: undefined,
    data: options.data,
    onProblem: (message) => void stderr.write(`${toLine(secrets.hide(message))}\n`),
  })
  try {
    return await use(store, config, settings)
  } finally {
    await store.close()
  }
}

async function findConfig({ config = [] }: StoreOptions): Promise<GatewayConfig | undefined> {
  const found = config.length > 0 ? config : DEFAULT_CONFIGS.filter((file) => existsSync(file)).slice(0, 1)
  return found.length === 0 ? undefined : readGatewayConfig(found)
}
