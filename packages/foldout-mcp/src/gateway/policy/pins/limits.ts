/** A file of pinned definitions larger than this counts as damaged. */
export const MAX_PIN_BYTES = 134_217_728
