import { join } from 'node:path'
import { createMemoryFilesystem } from '../packages/foldout/src/entries/files.ts'
import type { HostSetup, ScriptedReply, SeenRequest } from '../packages/foldout/src/entries/testing-suites.ts'
import { readSnippets } from './docs/snippets.ts'

const entries = join(import.meta.dirname, '../packages/foldout/src/entries')

const SKILL = `---
name: refunds
description: How to refund an order.
metadata:
  io.modelcontextprotocol/tools: refund
---
Refund at once.
`

/** The code of the README that imports an entry of the library. */
export function getReadmeCode(entry: string): string {
  const found = readSnippets('README.md').find(({ code }) => code.includes(`'${entry}'`))
  if (!found) throw new Error(`The README has no code with ${entry}.`)
  return found.code
}

const IMPORT = /^import (\{[^}]*\}) from '([^']+)'$/gm

/**
 * Runs code of the README, with values for the names that it does not declare, and a folder of skills that has one.
 *
 * @param packages The packages of others that it imports, by name.
 */
export async function runReadmeCode(
  code: string,
  values: Readonly<Record<string, unknown>>,
  packages: Readonly<Record<string, object>>,
): Promise<void> {
  const load = async (name: string): Promise<object> => {
    if (packages[name]) return packages[name]
    if (name === 'foldout/node')
      return { createHostFilesystem: () => createMemoryFilesystem({ 'refunds/SKILL.md': SKILL }) }
    return (await import(join(entries, `${name.slice('foldout/'.length) || 'index'}.ts`))) as object
  }
  const body = code.replaceAll(IMPORT, "const $1 = await load('$2')")
  const AsyncFunction = (async () => undefined).constructor as new (
    ...parts: string[]
  ) => (...given: readonly unknown[]) => Promise<void>
  await new AsyncFunction('load', ...Object.keys(values), body)(load, ...Object.values(values))
}

/** A model that opens the skill and calls its tool. */
export function createReadmeModel(): { readonly requests: readonly SeenRequest[]; readonly model: HostSetup['model'] } {
  const requests: SeenRequest[] = []
  const script: ScriptedReply[] = [
    { calls: [{ id: 'a', name: 'read_section', arguments: { section_key: 'refunds' } }] },
    { calls: [{ id: 'b', name: 'refund', arguments: {} }] },
  ]
  return {
    requests,
    model(request) {
      requests.push(request)
      return script.shift() ?? { text: 'Done.' }
    },
  }
}
