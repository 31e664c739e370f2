/** What the program's exit code says. */
export const EXIT = {
  done: 0,
  /** A search found nothing that fits. */
  nothing: 1,
  /** The command or the configuration is wrong. */
  usage: 2,
  /** None of the servers could be reached. */
  unreachable: 3,
  /** Ended by the user, as shells have it: 128 and the number of the signal. */
  interrupted: 130,
} as const
