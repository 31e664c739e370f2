/** The program's exit codes. */
export const EXIT = {
  done: 0,
  /** It did not work, was interrupted, or a search found nothing. */
  failed: 1,
  /** The command or the configuration is wrong. */
  usage: 2,
} as const
