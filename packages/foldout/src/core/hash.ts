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
