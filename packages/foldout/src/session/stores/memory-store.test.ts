import { sessionStoreSuite } from '../../testing/store-suite.ts'
import { createMemoryStore } from './memory-store.ts'

sessionStoreSuite('memoryStore', async () => createMemoryStore())
