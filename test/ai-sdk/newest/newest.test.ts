import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { vi } from 'vitest'
import { hostSuite } from '../../../packages/foldout/src/entries/testing-suites.ts'
import { createHostAgent, type AiPackage } from '../../ai-sdk/host.ts'
import { installPackages } from '../../../tools/install-packages.ts'

installPackages(import.meta.dirname)

const load = (): Promise<unknown> =>
  import(pathToFileURL(join(import.meta.dirname, 'node_modules/ai/dist/index.mjs')).href)

// The library imports its user's AI SDK, which is the newest of version 6 here.
vi.mock(
  '../../../node_modules/ai/dist/index.mjs',
  () => import(pathToFileURL(join(import.meta.dirname, 'node_modules/ai/dist/index.mjs')).href),
)

const ai = (await load()) as AiPackage

hostSuite('AI SDK 6.0.326', { create: (setup) => createHostAgent(ai, setup) })
