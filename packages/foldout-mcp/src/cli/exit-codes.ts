/** The program's exit codes. */
export const EXIT = {
  done: 0,
  /** The command failed, or a search found nothing. */
  failed: 1,
  /** The command or the configuration is wrong. */
  usage: 2,
  /** The user stopped the command, as shells report it. */
  interrupted: 130,
} as const
