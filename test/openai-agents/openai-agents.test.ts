import { hostSuite } from '../../packages/foldout/src/entries/testing-suites.ts'
import { installPackages } from '../../tools/install-packages.ts'
import { createHostAgent, loadOpenAiAgents } from './harness.ts'

installPackages(import.meta.dirname)

const packages = await loadOpenAiAgents(import.meta.dirname)

hostSuite('openai-agents 0.20', { create: (setup) => createHostAgent(packages, setup) })
