import { afterAll, expect, onTestFinished } from 'vitest'
import { hostSuite } from '../../packages/foldout/src/entries/testing-suites.ts'
import { importSdk, installSdk, runningExecutables } from './harness.ts'
import { createHostAgent, skips } from './host.ts'

installSdk()
const sdk = await importSdk()
afterAll(() => expect(runningExecutables()).toEqual([]))

hostSuite('Claude Agent SDK 0.3.327', {
  ownTools: [],
  skips,
  create: (setup) => createHostAgent(sdk, setup, { onEnd: onTestFinished }),
})
