/** The program's exit codes. */
export const EXIT = {
  done: 0,
  /** The command failed or was interrupted, or a search found nothing. */
  failed: 1,
  /** The command or the configuration is wrong. */
  usage: 2,
} as const
