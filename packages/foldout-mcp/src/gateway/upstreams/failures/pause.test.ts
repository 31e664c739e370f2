import { getEventListeners } from 'node:events'
import { expect, it } from 'vitest'
import { pause } from './pause.ts'

const MINUTE_MS = 60_000

it('a pause ends with its signal, and leaves no listener on it', async () => {
  const stop = new AbortController()
  // A server may be down for days, with a pause every minute.
  for (let i = 0; i < 20; i++) await pause(1, stop.signal)
  expect(getEventListeners(stop.signal, 'abort')).toEqual([])
  const long = pause(MINUTE_MS, stop.signal)
  stop.abort()
  await long
  await pause(MINUTE_MS, stop.signal)
})
