import { MAX_RECORDED_CHARACTERS } from '../../gateway/policy/secrets/limits.ts'
import type { Redactor } from '../../gateway/policy/secrets/redact.ts'
import { RunModel } from './model.ts'
import type { Pause } from './pace.ts'

/** The same run as it is now, put together from events without their secrets. */
export async function redactRun(run: RunModel, redactor: Redactor, pause: Pause): Promise<RunModel> {
  const safe = new RunModel(run.id, run.startedAt)
  // A run that goes on must not grow while it is read.
  for (const { at, event } of run.steps.slice()) {
    await pause()
    if (event.type !== 'cache/missed') safe.add(run.startedAt + at, redactValue(event, redactor))
  }
  return safe
}

/** The same value, such as an event or a message, without its secrets. */
export function redactValue<Value>(value: Value, redactor: Redactor): Value {
  return redact(value, redactor) as Value
}

function redact(value: unknown, redactor: Redactor): unknown {
  if (typeof value === 'string') return redactText(value, redactor)
  if (Array.isArray(value)) return value.map((item) => redact(item, redactor))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => {
      // Arguments are a tool's own JSON, in which the keys show what is secret.
      if (name === 'arguments') return [name, redactor.redactJson(item).value ?? '(too long to export)']
      // What a provider wants back, such as encrypted reasoning.
      if (name === 'native') return [name, undefined]
      return [redactText(name, redactor), redact(item, redactor)]
    }),
  )
}

/** A secret may be cut in two at the end of a part, and half of it would not be recognized, so that much is left out there. */
const UNSURE = 4_096

function redactText(text: string, redactor: Redactor): string {
  if (text.length <= MAX_RECORDED_CHARACTERS) return redactor.redactText(text).value
  const start = redactor.redactText(text.slice(0, MAX_RECORDED_CHARACTERS)).value.slice(0, -UNSURE)
  const left = (text.length - MAX_RECORDED_CHARACTERS + UNSURE).toLocaleString('en')
  return `${start}\n… and ${left} more characters, which are not exported`
}
