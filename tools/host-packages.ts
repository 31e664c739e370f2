// The packages of other people's loops are large, so they are not installed with the rest: each is in the folder of its
// tests. After `useHostPackages`, imports find them there.
import { register } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { installPackages } from './install-packages.ts'

const test = join(import.meta.dirname, '../test')

const HOSTS: Readonly<Record<string, { readonly folder: string; readonly packages: RegExp }>> = {
  langchain: { folder: 'langchain', packages: /^(?:langchain|deepagents|@langchain\/.*)$/ },
  'openai-agents': { folder: 'openai-agents', packages: /^@openai\/agents(?:\/.*)?$/ },
  mastra: { folder: 'mastra', packages: /^@mastra\/.*$/ },
  'ai-sdk-7': { folder: 'ai-sdk-7', packages: /^ai(?:\/.*)?$/ },
  'claude-agent': { folder: 'claude-agent', packages: /^@anthropic-ai\/claude-agent-sdk$/ },
}

/** Installs the packages of these hosts if they are missing, and leads imports to them. */
export function useHostPackages(names: readonly string[]): void {
  const places = names.flatMap((name) => {
    const host = HOSTS[name]
    if (!host) return []
    const folder = join(test, host.folder)
    installPackages(folder, { withScripts: name === 'claude-agent' })
    return [[host.packages.source, pathToFileURL(join(folder, 'index.js')).href]]
  })
  const hook = `const places = ${JSON.stringify(places)}.map(([packages, from]) => [new RegExp(packages), from])
    export const resolve = (name, context, next) => {
      const [, from] = places.find(([packages]) => packages.test(name)) ?? []
      return next(name, from === undefined ? context : { ...context, parentURL: from })
    }`
  register(`data:text/javascript,${encodeURIComponent(hook)}`)
}
