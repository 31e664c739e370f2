// Runs the support desk on an adapter, prints what happens, and checks the outcome.
import assert from 'node:assert/strict'
import { createSession, streamAgent, type ProviderAdapter } from 'foldout'
import { visibility } from 'foldout/session'
import { question, refunds, supportDesk } from './support-desk.ts'

export async function runSupportDesk(adapter: ProviderAdapter, options: { readonly isReal: boolean }): Promise<void> {
  const session = createSession({ slices: [refunds] })
  const stream = streamAgent(supportDesk.bind({ shop: 'Lampworks' }), { adapter, session, input: question })
  for await (const event of stream) {
    if (event.type === 'prompt/rendered')
      console.log(`prompt   ~${event.tokens.total} tokens, ${event.summarized.join(' and ')} folded`)
    if (event.type === 'request/sent') console.log(`request  with ${event.tools.join(', ')}`)
    if (event.type === 'tool/invoked') console.log(`called   ${event.name}: ${event.message.split('\n')[0]}`)
    if (event.type === 'tools/injected') console.log(`added    ${event.names.join(', ')}`)
    if (event.type === 'run/expanded') console.log(`restart  with ${event.paths.join(', ')} open`)
  }
  const result = await stream.result
  console.log(`answer   ${result.text}`)
  console.log(
    `usage    ${result.usage.inputTokens} tokens in, ${result.usage.outputTokens} out, ${result.expansions} restarts`,
  )
  assert.equal(result.status, 'completed')
  if (options.isReal) return
  assert.deepEqual(session.get(refunds), ['A-17'])
  assert.equal(session.get(visibility)['refunds'], 'full')
  assert.match(result.text, /A-17/)
}
