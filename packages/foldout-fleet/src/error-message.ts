/** Returns the message of anything thrown. An error of several connection attempts has only the messages of its parts. */
export function getErrorMessage(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  if (thrown.message !== '' || !(thrown instanceof AggregateError)) return thrown.message
  return thrown.errors.map(getErrorMessage).join('; ')
}
