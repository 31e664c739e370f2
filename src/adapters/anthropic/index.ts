export {
  anthropic,
  type AnthropicClient,
  type AnthropicOptions,
  type AnthropicParameters,
  type AnthropicToolAdditions,
} from './anthropic.ts'
