/**
 * Models of Anthropic's Messages API.
 *
 * @module foldout/anthropic
 */

export { anthropic } from '../adapters/anthropic/anthropic.ts'
export {
  type AnthropicCache,
  type AnthropicClient,
  type AnthropicOptions,
  type AnthropicParameters,
  type AnthropicServerTool,
  type AnthropicToolAdditions,
} from '../adapters/anthropic/options.ts'
