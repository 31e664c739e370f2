export { aiSdk, type AiSdkOptions } from './ai-sdk.ts'
export { createDisclosure, type AiSdkDisclosure, type AiSdkDisclosureOptions, type StepSettings } from './disclosure.ts'
