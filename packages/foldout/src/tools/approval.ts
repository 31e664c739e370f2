import { sha256Hex } from '../core/hash.ts'
import { canonicalJson } from '../core/json/json.ts'

/** Hashes the name of the tool that a call runs, together with its arguments. */
export function hashCall(name: string, args: unknown): string {
  return sha256Hex(canonicalJson([name, args ?? {}]))
}

/** The message for the model if a call needs approval and cannot wait for it. */
export function describeUnapproved(name: string): string {
  return `Tool '${name}' was not run: a person has to approve it first, and this call cannot wait for that.`
}
