export { adapterSuite } from './adapter-suite.ts'
export type {
  AdapterCase,
  AdapterSuiteOptions,
  EarlyEnd,
  ModelPeer,
  ModelStep,
  ScriptedCall,
  StepUsage,
} from './adapter-peer.ts'
export { createConversation, type Conversation, type ConversationOptions } from './conversation.ts'
export { disclosureSuite, type DisclosureExpectations } from './disclosure-suite.ts'
export { exposureSuite, type ClientCall, type ExposureDriver, type ExposureExpectations } from './exposure-suite.ts'
export { filesystemSuite } from './filesystem-suite.ts'
export {
  calls,
  callsAll,
  says,
  scriptedAdapter,
  type ScriptStep,
  type ScriptedAdapter,
  type ScriptedOptions,
  type ScriptedRequest,
} from './scripted-adapter.ts'
export { sessionStoreSuite } from './store-suite.ts'
