// Agents of each host, with the prompt or without. The packages of hosts are installed for their tests only.
import { join } from 'node:path'
import type { HostAgent, HostSetup } from '../../packages/foldout/src/entries/testing-suites.ts'
import { useHostPackages } from '../../tools/host-packages.ts'

/** Makes agents of one host: with the prompt, or without, to compare it with. */
export interface Contender {
  create(setup: HostSetup, isBare: boolean): HostAgent | Promise<HostAgent>
  /** Ends what the agents started. */
  close?(): Promise<void>
}

const test = join(import.meta.dirname, '../../test')

/** Each is measured in a process of its own: versions 6 and 7 of the AI SDK have one name. */
const LOAD: Readonly<Record<string, () => Promise<Contender>>> = {
  async LangChain() {
    useHostPackages(['langchain'])
    const harness = await import('../../test/langchain/harness.ts')
    const packages = await harness.loadLangChain(join(test, 'langchain'))
    return {
      create: (setup, isBare) =>
        harness.createHostAgent(packages, setup, (options, own) =>
          packages.langchain.createAgent({ ...options, middleware: isBare ? [] : [own] }),
        ),
    }
  },
  async 'openai-agents'() {
    useHostPackages(['openai-agents'])
    const harness = await import('../../test/openai-agents/harness.ts')
    const packages = await harness.loadOpenAiAgents(join(test, 'openai-agents'))
    return { create: (setup, isBare) => harness.createHostAgent(packages, setup, { isBare }) }
  },
  async Mastra() {
    useHostPackages(['mastra'])
    const harness = await import('../../test/mastra/harness.ts')
    const packages = await harness.loadMastra(join(test, 'mastra'))
    return { create: (setup, isBare) => harness.createHostAgent(packages, setup, { isBare, isClearing: false }) }
  },
  'AI SDK 6': loadAiSdk,
  'AI SDK 7'() {
    useHostPackages(['ai-sdk-7'])
    return loadAiSdk()
  },
  async 'Claude Agent SDK'() {
    const { importSdk, installSdk } = await import('../../test/claude-agent/harness.ts')
    const { createHostAgent } = await import('../../test/claude-agent/host.ts')
    installSdk()
    const sdk = await importSdk()
    const ends: (() => Promise<void>)[] = []
    return {
      create: (setup, isBare) =>
        createHostAgent(sdk, setup, { isBare, isAsSent: true, onEnd: (end) => void ends.push(end) }),
      async close() {
        for (const end of ends.splice(0)) await end()
      },
    }
  },
}

export const HOSTS: readonly string[] = Object.keys(LOAD)

export async function loadContender(name: string): Promise<Contender> {
  const load = LOAD[name]
  if (!load) throw new Error(`There is no host '${name}'.`)
  return load()
}

async function loadAiSdk(): Promise<Contender> {
  const harness = await import('../../test/ai-sdk/host.ts')
  const ai = await import('ai')
  return { create: (setup, isBare) => harness.createHostAgent(ai, setup, { isBare }) }
}
