export { model } from './examples-ai-sdk.ts'
export { bound } from './README.ts'
export { refundOrder } from './testing.ts'
