import { engineSuite } from '../../testing/engine-suite.ts'
import { createLocalEngine } from './local-engine.ts'

engineSuite('createLocalEngine', async () => createLocalEngine())
