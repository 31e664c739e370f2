export { adapterSuite } from '../testing/adapter-suite.ts'
export type {
  AdapterCase,
  AdapterSuiteOptions,
  EarlyEnd,
  ModelPeer,
  ModelStep,
  ScriptedCall,
  StepUsage,
} from '../testing/adapter-peer.ts'
export { createConversation, type Conversation, type ConversationOptions } from '../testing/conversation.ts'
export { disclosureSuite, type DisclosureExpectations } from '../testing/disclosure-suite.ts'
export {
  exposureSuite,
  type ClientCall,
  type ExposureDriver,
  type ExposureExpectations,
} from '../testing/exposure-suite.ts'
export { filesystemSuite } from '../testing/filesystem-suite.ts'
export {
  calls,
  callsAll,
  says,
  scriptedAdapter,
  type ScriptStep,
  type ScriptedAdapter,
  type ScriptedOptions,
  type ScriptedRequest,
} from '../testing/scripted-adapter.ts'
export { sessionStoreSuite } from '../testing/store-suite.ts'
