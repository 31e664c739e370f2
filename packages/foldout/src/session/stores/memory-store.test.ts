import { sessionStoreSuite } from '../../testing/store-suite.ts'
import { memoryStore } from './memory-store.ts'

sessionStoreSuite('memoryStore', async () => memoryStore())
