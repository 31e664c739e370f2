import type { GatewayConfig } from '../../gateway/config/config.ts'
import { createSecrets } from '../../gateway/policy/secrets/secrets.ts'
import type { GatewayStore } from '../../gateway/store/contract/gateway-store.ts'
import { fillStore, openStore, type StoreSettings } from '../../gateway/store/open.ts'
import type { Surroundings } from './surroundings.ts'
import { toLine } from './text.ts'
import { openOwnConfig, type ConfigOptions } from './trust.ts'

/** The store a command works with. */
export interface StoreOptions extends ConfigOptions {
  readonly store?: string
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
  const config = isNamed && !options.config ? undefined : await openOwnConfig(options, surroundings)
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
