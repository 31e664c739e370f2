/** The code of an error of Node.js or of a database; undefined if it has none. */
export function getErrorCode(error: unknown): string | undefined {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code
  return undefined
}

export function isCode(error: unknown, code: string): boolean {
  return getErrorCode(error) === code
}

/** Whether a file was not found, or a part of its path is no folder. */
export function isMissing(error: unknown): boolean {
  return isCode(error, 'ENOENT') || isCode(error, 'ENOTDIR')
}

/** An error with a code, such as those of JSON-RPC. */
export function createCodedError(code: number, message: string): Error {
  return Object.assign(new Error(message), { code })
}
