/** The program's exit codes. */
export const EXIT = {
  done: 0,
  /** A search found nothing that fits. */
  nothing: 1,
  /** The command or the configuration is wrong. */
  usage: 2,
  /** None of the servers could be reached. */
  unreachable: 3,
  /** Interrupted by the user: 128 plus the number of the signal, as in shells. */
  interrupted: 130,
} as const
