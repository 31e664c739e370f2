/**
 * Models of the Vercel AI SDK, and disclosure inside its own loop.
 *
 * @module foldout/ai-sdk
 */

export { aiSdk, type AiSdkOptions } from '../adapters/ai-sdk/ai-sdk.ts'
export {
  createDisclosure,
  type AiSdkDisclosure,
  type AiSdkDisclosureOptions,
  type StepSettings,
} from '../agent/hosts/ai-sdk/disclosure.ts'
