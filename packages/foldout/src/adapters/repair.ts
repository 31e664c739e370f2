import { getErrorMessage } from '../core/errors.ts'
import type { ChatRequest } from './contract.ts'

/**
 * Formats the message that asks a model to fix its answer. A model that sends only the faulty field again would send an
 * answer that cannot be parsed alone.
 */
export function formatRepair(fault: string): string {
  return `${fault} Send the whole JSON again, not only the part that changed.`
}

/** Asks a model for an answer that fits into one reply. */
export const CUT_OFF_ANSWER =
  'The answer was cut off because it reached the output limit. Send the whole JSON again, and write less.'

/** Whether a request only asks the model to fix its last answer, which requires no tools. */
export function isRepair({ messages, output }: ChatRequest): boolean {
  const [answer, fault] = messages.slice(-2)
  if (answer?.role !== 'assistant' || fault?.role !== 'user') return false
  try {
    output?.parse(answer.text)
    return false
  } catch (error) {
    return fault.text === CUT_OFF_ANSWER || fault.text.startsWith(getErrorMessage(error))
  }
}
