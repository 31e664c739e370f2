import { getErrorMessage } from '../core/errors.ts'
import type { ChatRequest } from './chat.ts'

/** Whether a request only asks the model to fix its last answer, which requires no tools. */
export function isRepair({ messages, output }: ChatRequest): boolean {
  const [answer, fault] = messages.slice(-2)
  if (answer?.role !== 'assistant' || fault?.role !== 'user') return false
  try {
    output?.parse(answer.text)
    return false
  } catch (error) {
    return getErrorMessage(error) === fault.text
  }
}
