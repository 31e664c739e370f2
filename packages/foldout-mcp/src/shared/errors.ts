import type { CallResult } from 'foldout/catalog'

/** A failed result that a model can read. */
export function createErrorResult(text: string): CallResult {
  return { content: [{ type: 'text', text }], isError: true }
}

/** What an error says, or what was thrown instead of one. */
export function getErrorMessage(error: unknown): string {
  if (error instanceof Error) return error.message
  return String(error)
}
