import type { AsyncEntry } from '@napi-rs/keyring'
import { KEYCHAIN_TIMEOUT_MS, MAX_WINDOWS_ENTRY } from './limits.ts'

/** The operating system's secret store. */
export interface Keychain {
  /** Returns how many entries it used. */
  write(name: string, secret: string): Promise<number>
  /** Undefined if an entry is missing. */
  read(name: string, parts: number): Promise<string | undefined>
  remove(name: string, parts: number): Promise<void>
}

type OpenEntry = (account: string) => Pick<AsyncEntry, 'getPassword' | 'setPassword' | 'deletePassword'>

const SERVICE = 'foldout'

/** This machine's keychain; undefined if it has none or it is turned off. */
export async function openKeychain(env: NodeJS.ProcessEnv): Promise<Keychain | undefined> {
  if (env['FOLDOUT_KEYCHAIN'] === 'off') return undefined
  try {
    const { AsyncEntry: Entry } = await import('@napi-rs/keyring')
    // The alternative, the Linux kernel keyring, loses everything on a restart.
    const open: OpenEntry = (account) => new Entry(SERVICE, account, { linux: { store: 'secret-service' } })
    // Only using the keychain shows whether there is one.
    await open('probe').getPassword(AbortSignal.timeout(KEYCHAIN_TIMEOUT_MS))
    return createKeychain(open, process.platform === 'win32' ? MAX_WINDOWS_ENTRY : Infinity)
  } catch {
    return undefined
  }
}

/** A keychain whose entries have a limited size. */
export function createKeychain(open: OpenEntry, longest: number): Keychain {
  const getEntry = (name: string, part: number): ReturnType<OpenEntry> => open(`${name}.${part}`)
  const getTimeout = (): AbortSignal => AbortSignal.timeout(KEYCHAIN_TIMEOUT_MS)
  return {
    async write(name, secret) {
      const parts = Math.max(1, Math.ceil(secret.length / longest))
      const size = Math.ceil(secret.length / parts)
      for (let part = 0; part < parts; part++)
        await getEntry(name, part).setPassword(secret.slice(part * size, (part + 1) * size), getTimeout())
      return parts
    },
    async read(name, parts) {
      let secret = ''
      for (let part = 0; part < parts; part++) {
        const text = await getEntry(name, part).getPassword(getTimeout())
        if (typeof text !== 'string') return undefined
        secret += text
      }
      return secret
    },
    async remove(name, parts) {
      for (let part = 0; part < parts; part++) await getEntry(name, part).deletePassword(getTimeout())
    },
  }
}
