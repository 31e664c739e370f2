import { expect, it } from 'vitest'
import * as z from 'zod'
import { createHost } from '../../../entries/disclosure.ts'
import { definePrompt, defineSection, defineTool, ok } from '../../../entries/index.ts'
import type { AgentEvent } from '../../events.ts'

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  params: z.object({ at: z.object({ what: z.string() }) }),
  execute: ({ at }) => ok(`Saw ${at.what}.`),
})
const bound = definePrompt({
  ns: 'test',
  key: 'host',
  sections: [defineSection({ key: 'desk', title: 'Desk', template: 'You look.', tools: [look] })],
}).bind()

function edit(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const key of Object.keys(value)) {
    edit((value as Record<string, unknown>)[key])
    try {
      ;(value as Record<string, unknown>)[key] = 'changed'
    } catch {
      // Frozen.
    }
  }
}

it('R40 R73 a listener of a host changes nothing, whether it edits events or throws', async () => {
  const seen: string[] = []
  const host = createHost(bound, {
    onEvent(event: AgentEvent) {
      seen.push(event.type)
      edit(event)
      throw new Error('broken listener')
    },
  })
  const args = { at: { what: 'a lamp' } }
  const call = { id: 'call-1', name: 'look', arguments: args }
  const view = host.at([])
  const tools = view.tools.map(({ name }) => name)
  host.report.started({ input: 'Go.' })
  host.report.sent({ prompt: view.rendered, messages: 1, tools })
  host.report.replied({ text: '', calls: [call] })
  expect((await view.call(call)).text).toBe('Saw a lamp.')
  host.report.called(call, { text: 'Saw a lamp.', isError: false, durationMs: 1 })
  host.report.asked(call, true)
  host.report.finished('completed')
  expect(seen).toEqual(
    'run/started prompt/rendered request/sent reply/received tool/called tool/invoked tool/called tool/invoked approval/asked run/finished'.split(
      ' ',
    ),
  )
  expect([args, tools]).toEqual([{ at: { what: 'a lamp' } }, ['look']])
  // The host may go on with its own objects.
  expect(Object.isFrozen(args) || Object.isFrozen(tools)).toBe(false)
})
