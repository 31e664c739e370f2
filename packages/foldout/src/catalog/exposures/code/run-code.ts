import { untilAborted } from '../../../core/abort.ts'
import { createErrorResult } from '../../../tools/call-result.ts'
import type { MetaScope, MetaTool } from '../../meta-tools/meta-tool.ts'
import type { CallContext, CallPeer, CatalogEntry } from '../../tool.ts'
import { getText } from '../../learned-output.ts'
import { createAttachments, type Attachments } from './attachments.ts'
import { getFolder } from './function-folder.ts'
import { formatRun } from './run-answer.ts'
import type { SandboxFunction, SandboxFunctions } from './host/sandbox-run.ts'
import type { Sandbox } from './host/sandbox.ts'

export const RUN_CODE = 'run_code'

/** Runs a program that calls the catalog's tools. */
export function createRunCode(scope: MetaScope, sandbox: Sandbox): MetaTool {
  return {
    listing: {
      name: RUN_CODE,
      description:
        'Run TypeScript that calls tools: `const found = await <server>.<tool>({ … })`, as declared in servers/<server>/<tool>.d.ts. Failures throw. Use loops, conditions and Promise.all as you like; return what you need to see. No imports, network or files.',
      inputSchema: {
        type: 'object',
        properties: { code: { type: 'string' } },
        required: ['code'],
      },
      // It may call any tool.
      annotations: { title: 'Run code', readOnlyHint: false, destructiveHint: true, openWorldHint: true },
    },
    async call(args, context) {
      const { code } = args
      if (typeof code !== 'string' || code.trim() === '')
        return createErrorResult("Write the program to run in 'code'.")
      const source = withoutFence(code)
      const folder = getFolder(scope.catalog)
      const attachments = createAttachments()
      let calls = 0
      const functions: SandboxFunctions = {
        keys: () => folder.functions.keys(),
        has: (name) => folder.functions.has(name),
        get(name) {
          const entry = folder.functions.get(name)
          return entry && getFunction(scope, entry, attachments, () => numberCall(context, ++calls))
        },
      }
      const { signal } = context
      const run = await untilAborted(signal, () => sandbox.run(source, { functions, ...(signal && { signal }) }))
      return formatRun({ run, source, folder, attachments })
    },
  }
}

/** Removes a Markdown fence, which models often put around code. */
function withoutFence(code: string): string {
  return /^\s*```[a-z]*\n(.*?)\n?```\s*$/s.exec(code)?.[1] ?? code
}

function getFunction(
  { catalog, client }: MetaScope,
  entry: CatalogEntry,
  attachments: Attachments,
  getContext: () => CallContext,
): SandboxFunction {
  return async (args, signal, pause) => {
    const started = performance.now()
    let ok = false
    // With several calls, progress would jump back and forth.
    const { onProgress: _, peer, ...rest } = getContext()
    const { request } = rest
    try {
      const asking = peer && { peer: pause ? pauseToAsk(peer, pause) : peer }
      const result = await catalog.call(entry.qualified, attachments.restore(args), { ...rest, ...asking, signal })
      ok = result.isError !== true
      if (!ok) throw new Error(getText(result.content) || `Tool '${entry.name}' failed.`)
      return attachments.toValue(entry, result)
    } finally {
      catalog.report({
        type: 'tool/used',
        client: client.id,
        name: entry.qualified,
        through: RUN_CODE,
        ok,
        durationMs: Math.round(performance.now() - started),
        wrappingTokens: 0,
        request,
      })
    }
  }
}

/** Returns the context of a call that a program makes, with its own ids. */
function numberCall(context: CallContext, call: number): CallContext {
  const { callId, idempotencyKey, peer } = context
  return {
    ...context,
    // A modern client is asked through the result of its request, which a program cannot pass on.
    ...(peer?.era === 'modern' && { peer: toProgramPeer(peer) }),
    ...(callId !== undefined && { callId: `${callId}/${call}` }),
    ...(idempotencyKey !== undefined && { idempotencyKey: `${idempotencyKey}/${call}` }),
  }
}

function toProgramPeer(peer: CallPeer): CallPeer {
  const { input: _, ...others } = peer
  return { ...others, capabilities: {} }
}

/** The same client, except that the program's clock does not run while it is asked. */
function pauseToAsk(peer: CallPeer, pause: () => () => void): CallPeer {
  const { ask } = peer
  if (!ask) return peer
  return {
    ...peer,
    async ask(...question) {
      const resume = pause()
      try {
        return await ask(...question)
      } finally {
        resume()
      }
    },
  }
}
