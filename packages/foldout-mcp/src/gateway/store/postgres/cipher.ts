import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { UsageError } from '../../config/config.ts'

/** Encrypts what people with access to the database must not read. */
export interface Cipher {
  /** Encrypts a text so that it can be decrypted only with the same label. */
  encrypt(text: string, label: string): Buffer
  /** @throws Error if it was encrypted with an unknown key, or was changed. */
  decrypt(data: Buffer, label: string): string
}

const VERSION = 1
const ALGORITHM = 'aes-256-gcm'
const KEY_BYTES = 32
const ID_BYTES = 4
const NONCE_BYTES = 12
const TAG_BYTES = 16
const HEAD_BYTES = 1 + ID_BYTES + NONCE_BYTES + TAG_BYTES

/** Where the key is. */
export interface KeySource {
  readonly key: string | undefined
  readonly keyFile: string | undefined
}

/** Reads the key when it is first needed, because only sign-ins need one. */
export function createCipher(source: KeySource): Cipher {
  let known: readonly Buffer[] | undefined
  const getKeys = (): readonly Buffer[] => (known ??= readKeys(source))
  return {
    encrypt(text, label) {
      const [key] = getKeys()
      if (!key) throw new UsageError(MISSING)
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(label))
      const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([Buffer.from([VERSION]), identify(key), nonce, cipher.getAuthTag(), encrypted])
    },
    decrypt(data, label) {
      if (data.length < HEAD_BYTES || data[0] !== VERSION) throw new Error('A sign-in in the store is damaged.')
      const id = data.subarray(1, 1 + ID_BYTES)
      const key = getKeys().find((one) => identify(one).equals(id))
      if (!key)
        throw new UsageError(
          'A sign-in in the store was encrypted with a different key than the current FOLDOUT_STORE_KEY.',
        )
      const nonce = data.subarray(1 + ID_BYTES, 1 + ID_BYTES + NONCE_BYTES)
      const tag = data.subarray(HEAD_BYTES - TAG_BYTES, HEAD_BYTES)
      const decipher = createDecipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(label)).setAuthTag(tag)
      try {
        return Buffer.concat([decipher.update(data.subarray(HEAD_BYTES)), decipher.final()]).toString('utf8')
      } catch {
        throw new Error('A sign-in in the store was changed without the key.')
      }
    },
  }
}

const MAKE_ONE = 'Create one with: openssl rand -base64 32'
const MISSING = `Sign-ins in a store are encrypted, and there is no key. Set FOLDOUT_STORE_KEY or FOLDOUT_STORE_KEY_FILE, the same for every gateway. ${MAKE_ONE}`

/** The first key encrypts. Further ones, after a comma, are older and only decrypt. */
function readKeys({ key, keyFile }: KeySource): readonly Buffer[] {
  const text = key ?? (keyFile === undefined ? '' : readKeyFile(keyFile))
  const keys = text
    .split(/[\s,]+/)
    .filter((part) => part !== '')
    .map(readKey)
  if (keys.length === 0) throw new UsageError(MISSING)
  return keys
}

function readKeyFile(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`The key of the store cannot be read from ${file}: ${(error as Error).message}`)
  }
}

function readKey(text: string): Buffer {
  const key = Buffer.from(text, /^[0-9a-f]{64}$/i.test(text) ? 'hex' : 'base64')
  if (key.length !== KEY_BYTES)
    throw new UsageError(`The key of the store must have ${KEY_BYTES} bytes, in base64 or hexadecimal. ${MAKE_ONE}`)
  return key
}

/** Identifies the key without revealing anything about it. */
function identify(key: Buffer): Buffer {
  return createHash('sha256').update('foldout:store-key:').update(key).digest().subarray(0, ID_BYTES)
}
