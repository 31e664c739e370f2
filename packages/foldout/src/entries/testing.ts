/**
 * A scripted model and a conversation driver for tests, with any test runner.
 *
 * @module foldout/testing
 */
export { createConversation, type Conversation, type ConversationOptions } from '../testing/conversation.ts'
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
