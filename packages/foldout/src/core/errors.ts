/**
 * The base of every error Foldout throws. `code` is stable and made for programs; the message is made for people and
 * says what is wrong and how to mend it.
 */
export class FoldoutError extends Error {
  readonly code: string

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
    this.code = code
  }
}

export interface PromptErrorDetails {
  /** Dotted path of the section at fault, if it is one section's fault. */
  readonly path?: string | undefined
  /** Name of the placeholder at fault, without `${` and `}`. */
  readonly placeholder?: string | undefined
  readonly cause?: unknown
}

abstract class PromptError extends FoldoutError {
  readonly path: string | undefined
  readonly placeholder: string | undefined

  constructor(code: string, message: string, details: PromptErrorDetails = {}) {
    super(code, message, details.cause === undefined ? undefined : { cause: details.cause })
    this.path = details.path
    this.placeholder = details.placeholder
  }
}

/** The definition of a prompt, the values bound to it or an override asked of it cannot be right. */
export class PromptValidationError extends PromptError {
  constructor(message: string, details?: PromptErrorDetails) {
    super('prompt-invalid', message, details)
  }
}

/** A valid prompt could not be rendered with these values and this session. */
export class PromptRenderError extends PromptError {
  constructor(message: string, details?: PromptErrorDetails) {
    super('prompt-render', message, details)
  }
}

/** What a thrown thing says, whatever was thrown. */
export function getErrorMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

/** A short name of a thrown thing that says nothing of its content: an error's code, or its name. */
export function getErrorType(thrown: unknown): string {
  if (!(thrown instanceof Error)) return typeof thrown
  return 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : thrown.name
}
