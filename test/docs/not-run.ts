// Examples that are compiled but not run, with the reason.
const NEEDS_PROVIDER = 'calls a provider, which needs a key'
const NEEDS_PEER = 'needs a package that is not installed here'
const NEEDS_DATABASE = 'needs a database'
const DECLARES_TESTS = 'declares tests, which the suite of this repository runs elsewhere'
const TAKES_STREAMS = 'takes over the standard streams of the process'
const TAKES_PORT = 'listens on a fixed port'

export const NOT_RUN: Readonly<Record<string, string>> = {
  'index: ProviderAdapter': NEEDS_PROVIDER,
  'anthropic: anthropic': NEEDS_PROVIDER,
  'anthropic: AnthropicClient': NEEDS_PEER,
  'claude-agent: claudeAgent': NEEDS_PROVIDER,
  'claude-agent: queryClaude': NEEDS_PROVIDER,
  'claude-agent: ClaudeAgentSdk': NEEDS_PEER,
  'fleet: createDbosEngine': NEEDS_DATABASE,
  'fleet: DbosEngine': NEEDS_DATABASE,
  'fleet: DbosEngineOptions': NEEDS_DATABASE,
  'fleet: openFleet': NEEDS_DATABASE,
  'fleet: Fleet': NEEDS_DATABASE,
  'gateway: createGateway': TAKES_STREAMS,
  'gateway: Gateway': TAKES_PORT,
  'langchain: foldoutMiddleware': NEEDS_PEER,
  'mastra: FoldoutProcessor': NEEDS_PEER,
  'mcp: McpConnection': TAKES_STREAMS,
  'mcp: ServedMcp': TAKES_STREAMS,
  'mcp: HttpOptions': TAKES_PORT,
  'mcp: listenForMcp': TAKES_PORT,
  'mcp: serveMcp': TAKES_PORT,
  'minilm: createMiniLm': NEEDS_PEER,
  'minilm: MiniLm': NEEDS_PEER,
  'openai-agents: foldedAgent': NEEDS_PEER,
  'openai-agents: FoldedAgentOptions': NEEDS_PEER,
  'openai-agents: FoldedRunOptions': NEEDS_PEER,
  'openai-agents: runOptions': NEEDS_PEER,
  'openai: openai': NEEDS_PROVIDER,
  'fleet: createPostgresStore': NEEDS_DATABASE,
  'fleet: openPostgres': NEEDS_DATABASE,
  'fleet: PostgresAnswer': NEEDS_DATABASE,
  'fleet: PostgresClient': NEEDS_DATABASE,
  'fleet: PostgresPool': NEEDS_DATABASE,
  'fleet: PostgresStoreOptions': NEEDS_DATABASE,
  'testing-suites: adapterSuite': DECLARES_TESTS,
  'testing-suites: disclosureSuite': DECLARES_TESTS,
  'testing-suites: engineSuite': DECLARES_TESTS,
  'testing-suites: exposureSuite': DECLARES_TESTS,
  'testing-suites: filesystemSuite': DECLARES_TESTS,
  'testing-suites: hostSuite': DECLARES_TESTS,
  'testing-suites: HostDriver': DECLARES_TESTS,
  'testing-suites: HostAgent': NEEDS_PEER,
  'testing-suites: sessionStoreSuite': DECLARES_TESTS,
}
