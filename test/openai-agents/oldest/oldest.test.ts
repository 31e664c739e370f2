import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { vi } from 'vitest'
import { hostSuite } from '../../../packages/foldout/src/entries/testing-suites.ts'
import { installPackages } from '../../../tools/install-packages.ts'
import { createHostAgent, loadOpenAiAgents } from '../harness.ts'

installPackages(import.meta.dirname)

vi.mock(
  '../node_modules/@openai/agents/dist/index.mjs',
  () => import(pathToFileURL(join(import.meta.dirname, 'node_modules/@openai/agents/dist/index.mjs')).href),
)

const packages = await loadOpenAiAgents(import.meta.dirname)

hostSuite('openai-agents 0.17', { create: (setup) => createHostAgent(packages, setup) })
