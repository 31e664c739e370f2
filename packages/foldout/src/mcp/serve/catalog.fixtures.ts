import { setTimeout as delay } from 'node:timers/promises'
import { createCatalog } from '../../catalog/live/catalog.ts'
import type { Catalog } from '../../catalog/contract.ts'
import type { CallContext, CallResult, RawTool } from '../../catalog/tool.ts'
import { defineSlice } from '../../session/slice.ts'
import { ok } from '../../tools/result.ts'
import { defineTool } from '../../tools/tool.ts'
import { waitForAbort } from '../../../../../test/turns.ts'

export const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** Everything that a result can hold, and fields that no schema of today knows. */
export const RICH_RESULT: CallResult = {
  content: [
    { type: 'text', text: 'A picture.', annotations: { audience: ['user'], priority: 0.5 }, _meta: { part: 1 } },
    { type: 'image', data: PIXEL, mimeType: 'image/png' },
    { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
    { type: 'resource_link', uri: 'file:///a.txt', name: 'a.txt', mimeType: 'text/plain' },
    { type: 'resource', resource: { uri: 'file:///b.txt', text: 'B', mimeType: 'text/plain' } },
  ],
  structuredContent: { width: 1, nested: { height: [1, null] } },
  _meta: { 'example.com/trace': 'abc' },
  'example.com/extra': { kept: true },
}

/** What the tool `watched` was called with, in order. */
export interface Seen {
  readonly contexts: CallContext[]
}

export const visits = defineSlice({
  name: 'visits',
  initial: 0,
  reducers: { made: (count: number) => count + 1 },
})

const countVisits = defineTool({
  name: 'count_visits',
  description: 'Counts how often this client has called it.',
  execute(_params, { session }) {
    session.dispatch(visits.events.made())
    return ok(`Visit ${session.get(visits)}.`)
  },
})

/** Tools of every kind; `hidden` more that only a search finds. */
export function manyKinds(
  options: { readonly hidden?: number; readonly seen?: Seen; readonly more?: readonly RawTool[] } = {},
): Catalog {
  const { hidden = 40, seen, more = [] } = options
  return createCatalog([
    ...more,
    {
      name: 'get_states',
      description: 'Tells the state of every device.',
      core: true,
      annotations: { readOnlyHint: true },
      meta: { 'example.com/kept': 1 },
      call: async () => text('All is off.'),
    },
    {
      name: 'take_picture',
      description: 'Takes a picture with the camera.',
      outputSchema: { type: 'object', properties: { width: { type: 'integer' } } },
      call: async () => RICH_RESULT,
    },
    {
      name: 'break_vase',
      description: 'Breaks the porcelain vase.',
      call: async () => ({ ...text('It is broken.'), isError: true }),
    },
    {
      name: 'water_garden',
      description: 'Waters the garden bed by bed.',
      inputSchema: {
        type: 'object',
        properties: { beds: { type: 'integer', minimum: 1 }, pauseMs: { type: 'integer' } },
        required: ['beds'],
      },
      async call({ beds, pauseMs }, context) {
        for (let done = 1; done <= Number(beds); done++) {
          context.onProgress?.({ progress: done, total: Number(beds), message: `Bed ${done}` })
          if (pauseMs) await delay(Number(pauseMs))
        }
        return text(`${String(beds)} beds.`)
      },
    },
    {
      name: 'wait_for_rain',
      description: 'Waits until it rains.',
      async call(_args, context) {
        seen?.contexts.push(context)
        return waitForAbort(context.signal!)
      },
    },
    {
      name: 'watched',
      description: 'Notes what it was called with.',
      async call(_args, context) {
        seen?.contexts.push(context)
        return text('Noted.')
      },
    },
    {
      name: 'list_numbers',
      description: 'Gives numbers as a bare list.',
      outputSchema: { type: 'array', items: { type: 'integer' } },
      call: async () => ({ content: [], structuredContent: [1, 2, 3] }),
    },
    countVisits,
    ...Array.from({ length: hidden }, (_, i): RawTool => {
      const room = `room_${String(i).padStart(4, '0')}`
      return { name: `light_${room}`, description: `Switches the light of ${room}.`, call: async () => text(room) }
    }),
  ])
}

export function text(content: string): CallResult {
  return { content: [{ type: 'text', text: content }] }
}
