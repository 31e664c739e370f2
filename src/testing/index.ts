export { createConversation, type Conversation, type ConversationOptions } from './conversation.ts'
export { disclosureSuite, type DisclosureExpectations } from './disclosure-suite.ts'
export { filesystemSuite } from './filesystem-suite.ts'
export { sessionStoreSuite } from './store-suite.ts'
