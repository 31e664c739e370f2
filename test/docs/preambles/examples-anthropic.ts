import type { AnthropicClient } from 'foldout/anthropic'

export declare const AnthropicBedrock: new () => AnthropicClient
