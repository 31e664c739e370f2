import type { Agent, AgentInputItem, RunContext, Tool } from '@openai/agents'
import type { Usage } from '../../../adapters/contract.ts'
import type { HostReport } from '../core/contract.ts'

/** Reports the runs of an agent. The SDK does not say when a reply arrives, so it is reported at the next chance. */
export interface RunWatch {
  sent(request: Parameters<HostReport['sent']>[0]): void
  /** The reply to the last request has arrived. */
  replied(context: Pick<RunContext, 'usage'>, text?: string): void
}

/** @param isOwn Whether a tool is one of the prompt's, whose calls are reported where they run. */
export function watchRun<TContext, TOutput>(
  agent: Agent<TContext, TOutput>,
  report: HostReport,
  isOwn: (tool: Tool) => boolean,
): RunWatch {
  const started = new Map<string, number>()
  let isPending = false
  let before: Partial<Usage> = {}
  const watch: RunWatch = {
    sent(request) {
      isPending = true
      report.sent(request)
    },
    replied({ usage }, text = '') {
      if (!isPending) return
      isPending = false
      const now = readUsage(usage)
      report.replied({ text, usage: subtract(now, before) })
      before = now
    },
  }
  if (!report.isOn) return watch
  agent.on('agent_start', (context, _agent, input) => {
    before = readUsage(context.usage)
    report.started(describeInput(input))
  })
  agent.on('agent_end', (context, text) => {
    watch.replied(context, text)
    report.finished('completed')
  })
  agent.on('agent_tool_start', (context, tool, { toolCall }) => {
    watch.replied(context)
    if (toolCall && !isOwn(tool)) started.set(toolCall.callId, performance.now())
  })
  agent.on('agent_tool_end', (_context, { name }, text, { toolCall }) => {
    const since = toolCall && started.get(toolCall.callId)
    if (!toolCall || since === undefined) return
    started.delete(toolCall.callId)
    const call = { id: toolCall.callId, name, arguments: toolCall.arguments }
    report.called(call, { text, isError: false, durationMs: Math.round(performance.now() - since) })
  })
  return watch
}

function describeInput(items: readonly AgentInputItem[] = []): { readonly input?: string } {
  const last = items.findLast(({ role }) => role === 'user')
  if (typeof last?.content === 'string') return { input: last.content }
  return {}
}

function readUsage({ inputTokens, outputTokens, inputTokensDetails }: RunContext['usage']): Partial<Usage> {
  const cachedInputTokens = inputTokensDetails.reduce((sum, { cached_tokens: cached = 0 }) => sum + cached, 0)
  return { inputTokens, outputTokens, cachedInputTokens }
}

function subtract(now: Partial<Usage>, before: Partial<Usage>): Partial<Usage> {
  const { inputTokens = 0, outputTokens = 0, cachedInputTokens = 0 } = now
  return {
    inputTokens: inputTokens - (before.inputTokens ?? 0),
    outputTokens: outputTokens - (before.outputTokens ?? 0),
    cachedInputTokens: cachedInputTokens - (before.cachedInputTokens ?? 0),
  }
}
