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
  type StepState,
} from '../agent/hosts/ai-sdk/disclosure.ts'
export type { ToolApproval, ToolApprovals } from '../agent/hosts/ai-sdk/wrap-tool.ts'
export { catalogSearch, type SearchableCatalog } from '../agent/hosts/ai-sdk/catalog-search.ts'
export { toUIMessages } from '../agent/hosts/ai-sdk/ui-messages.ts'
export { toUIMessageStream } from '../agent/hosts/ai-sdk/ui-stream.ts'
