export { claudeAgent, type ClaudeAgentOptions } from './claude-agent.ts'
export type { ClaudeAgentSdk } from './sdk.ts'
