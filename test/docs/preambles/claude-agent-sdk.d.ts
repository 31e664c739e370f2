// The SDK is a large optional peer, which is installed only for its own tests.
declare module '@anthropic-ai/claude-agent-sdk' {
  import type { ClaudeAgentSdk } from 'foldout/claude-agent'
  export const query: ClaudeAgentSdk['query']
}
