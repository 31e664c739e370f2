import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

type Hash = (text: string) => string

let hash: Hash | undefined

/** SHA-256 of a text, in hexadecimal: by the runtime where it can do so synchronously, else in JavaScript. */
export function sha256Hex(text: string): string {
  hash ??= findNativeHash() ?? hashInJavaScript
  return hash(text)
}

export function hashInJavaScript(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text)))
}

/** Asked for at run time, so that nothing imports a Node built-in where there is none. */
function findNativeHash(): Hash | undefined {
  try {
    const crypto = globalThis.process?.getBuiltinModule?.('node:crypto')
    // Since Node 20.12; other runtimes may have the module without it.
    if (typeof crypto?.hash === 'function') return (text) => crypto.hash('sha256', text, 'hex')
    return crypto && ((text) => crypto.createHash('sha256').update(text).digest('hex'))
  } catch {
    return undefined
  }
}
