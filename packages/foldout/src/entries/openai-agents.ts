/**
 * A prompt as an agent of openai-agents.
 *
 * @module foldout/openai-agents
 */

export {
  foldedAgent,
  runOptions,
  type FoldedAgentOptions,
  type FoldedRunOptions,
} from '../agent/hosts/openai-agents/agent.ts'
