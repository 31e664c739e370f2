import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { vi } from 'vitest'
import { hostSuite } from '../../../packages/foldout/src/entries/testing-suites.ts'
import { installPackages } from '../../../tools/install-packages.ts'
import { createHostAgent, loadLangChain } from '../harness.ts'

installPackages(import.meta.dirname)

vi.mock('../node_modules/langchain/dist/index.js', () => load('langchain/dist/index.js'))
vi.mock('../node_modules/@langchain/langgraph/dist/index.js', () => load('@langchain/langgraph/dist/index.js'))

function load(path: string): Promise<unknown> {
  return import(pathToFileURL(join(import.meta.dirname, 'node_modules', path)).href)
}

const packages = await loadLangChain(import.meta.dirname)

hostSuite('LangChain 1.4', { create: (setup) => createHostAgent(packages, setup) })
