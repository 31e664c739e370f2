import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { CallResult } from 'foldout/catalog'
import { createCall, createTool, PAID, readText, type Meeting } from './call/call.fixtures.ts'
import type { CallStage } from './call/call.ts'
import { compose } from './call/call.ts'
import { CallPipeline, listStages } from './pipeline.ts'
import { REQUEST_STAGES } from './pipeline.ts'

/** Sends a call through all stages. */
async function send(meeting: Meeting, own: readonly CallStage[] = []) {
  const { call, ...seen } = createCall(meeting)
  const { call: run } = new CallPipeline(call.scope, own).toRawTool(call.server, createTool(meeting.limits))
  const result = await run?.(call.given, call.context)
  return { ...seen, result: result as CallResult }
}

describe('the stages of a call', () => {
  it('are those that the page about the architecture shows, in this order', () => {
    const page = readFileSync(join(import.meta.dirname, '../../../../../docs/architecture.md'), 'utf8')
    const shown = (heading: string): readonly string[] => {
      const [, section = ''] = page.split(`**${heading}**`)
      return Array.from(section.split(/\n\n(?:\*\*|#)/)[0]?.matchAll(/^\d+\. `(\w+)`/gm) ?? [], ([, name]) =>
        String(name),
      )
    }
    const own: CallStage = (call, next) => next(call)
    const names = listStages([own]).map(({ name }) => (name === '' ? 'stages' : name))
    expect(shown('The stages of a request')).toEqual(REQUEST_STAGES.map(({ name }) => name))
    expect(shown('The stages of a call')).toEqual(names)
  })

  it('send a call that nothing stops, and log it once', async () => {
    const { result, sent, audited, traffic } = await send({})
    expect(result).toEqual(PAID)
    expect(sent).toEqual([{ amount: 3 }])
    expect(audited).toMatchObject([{ tool: 'bank/pay', outcome: 'ok', arguments: { amount: 3 }, preset: 'work' }])
    expect(traffic).toMatchObject([{ type: 'call', tool: 'bank/pay', isError: false }])
  })

  it('log a call that a rule denies, and send nothing', async () => {
    const { result, sent, audited, traffic } = await send({ rules: [{ action: 'deny', tool: 'bank/pay' }] })
    expect(readText(result)).toBe("Tool 'bank/pay' was not run: a rule denies it.")
    expect(sent).toEqual([])
    expect(audited.map(({ outcome }) => outcome)).toEqual(['denied'])
    expect(traffic).toMatchObject([{ type: 'decision', decision: 'denied' }])
  })

  it('take no quota for a call that the user does not approve', async () => {
    let taken = 0
    const { audited, sent } = await send({
      rules: [{ action: 'ask', tool: 'bank/pay' }],
      policy: {
        approvals: { run: async () => ({ content: [], isError: true }) },
        quotas: {
          counts: () => true,
          take: async () => (taken++, undefined),
          update: () => undefined,
          close: async () => undefined,
        },
      },
    })
    expect([taken, sent, audited.map(({ outcome }) => outcome)]).toEqual([0, [], ['not approved']])
  })

  it('ask the user about the arguments that will be sent, after own stages have changed them', async () => {
    const asked: unknown[] = []
    const redact: CallStage = (call, next) => next({ ...call, arguments: { ...call.arguments, card: '[card]' } })
    const { sent, audited, traffic } = await send(
      {
        arguments: { card: '4242424242424242' },
        rules: [{ action: 'ask' }],
        policy: { approvals: { run: async (request, context, run) => (asked.push(request.arguments), run(context)) } },
      },
      [redact],
    )
    const redacted = { card: '[card]' }
    expect([asked, sent, audited.map((call) => call.arguments)]).toEqual([[redacted], [redacted], [redacted]])
    expect(traffic).toMatchObject([{ type: 'call' }, { type: 'decision', decision: 'approved', arguments: redacted }])
  })

  it('check again what the running server defines, and log that a rule denies it now', async () => {
    const { result, sent, audited } = await send({
      rules: [{ action: 'deny', annotation: 'destructive' }, { action: 'allow' }],
      comparison: { isHeld: false, changed: { annotations: { destructiveHint: true } } },
    })
    expect([sent, result.isError, audited.map(({ outcome }) => outcome)]).toEqual([[], true, ['denied']])
  })

  it('join so that the first stage sees a call first and its result last', () => {
    const mark =
      (name: string) =>
      (text: string, next: (text: string) => string): string =>
        `${name}(${next(`${text}${name}`)})`
    expect(compose([mark('a'), mark('b')], (text: string) => text.toUpperCase())('-')).toBe('a(b(-AB))')
  })
})
