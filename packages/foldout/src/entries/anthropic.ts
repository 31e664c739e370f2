export {
  anthropic,
  type AnthropicCache,
  type AnthropicClient,
  type AnthropicOptions,
  type AnthropicParameters,
  type AnthropicToolAdditions,
} from '../adapters/anthropic/anthropic.ts'
