import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

type Hash = (text: string) => string

let hash: Hash | undefined

/**
 * Computes the SHA-256 of a text in hexadecimal, using the runtime if it has a synchronous API, otherwise in
 * JavaScript.
 */
export function sha256Hex(text: string): string {
  hash ??= findNativeHash() ?? hashInJavaScript
  return hash(text)
}

export function hashInJavaScript(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text)))
}

/** A hash of bytes that come in parts. */
export interface BytesHash {
  update(bytes: Uint8Array): void
  /** Returns the SHA-256 in hexadecimal. */
  digest(): string
}

/** Computes the SHA-256 of bytes, using the runtime if it has a synchronous API. */
export function createBytesHash(): BytesHash {
  const native = globalThis.process?.getBuiltinModule?.('node:crypto')?.createHash?.('sha256')
  if (native) return { update: (bytes) => void native.update(bytes), digest: () => native.digest('hex') }
  const own = sha256.create()
  return { update: (bytes) => void own.update(bytes), digest: () => bytesToHex(own.digest()) }
}

/** Looks up the built-in at run time, so runtimes without Node built-ins do not have to import it. */
function findNativeHash(): Hash | undefined {
  try {
    const crypto = globalThis.process?.getBuiltinModule?.('node:crypto')
    // Available since Node 20.12; other runtimes may have the module without this function.
    if (typeof crypto?.hash === 'function') return (text) => crypto.hash('sha256', text, 'hex')
    return crypto && ((text) => crypto.createHash('sha256').update(text).digest('hex'))
  } catch {
    return undefined
  }
}
