import * as ai from 'ai'
import { hostSuite } from '../../packages/foldout/src/entries/testing-suites.ts'
import { createHostAgent } from './host.ts'

hostSuite('AI SDK 6', { create: (setup) => createHostAgent(ai, setup) })
