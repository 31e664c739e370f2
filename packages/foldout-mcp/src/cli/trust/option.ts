/** Apart from what it does, so that the help loads nothing else. */
export const TRUST_OPTION = ['--trust', 'trust the configuration in this folder as it is now'] as const
