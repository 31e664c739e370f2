/**
 * The Claude Agent SDK as the loop that runs a prompt.
 *
 * @module foldout/claude-agent
 */

export { claudeAgent, type ClaudeAgentOptions } from '../adapters/claude-agent/claude-agent.ts'
export type { ClaudeAgentSdk } from '../adapters/claude-agent/sdk.ts'
export { queryClaude, type ClaudeQueryOptions } from '../agent/hosts/claude-agent/query.ts'
