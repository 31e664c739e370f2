import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { vi } from 'vitest'
import { hostSuite } from '../../../packages/foldout/src/entries/testing-suites.ts'
import { installPackages } from '../../../tools/install-packages.ts'
import { createHostAgent, loadMastra, skips } from '../harness.ts'

installPackages(import.meta.dirname)

vi.mock(
  '../node_modules/@mastra/core/dist/tools/index.js',
  () => import(pathToFileURL(join(import.meta.dirname, 'node_modules/@mastra/core/dist/tools/index.js')).href),
)

const packages = await loadMastra(import.meta.dirname)

hostSuite('Mastra 1.50', { skips, create: (setup) => createHostAgent(packages, setup) })
