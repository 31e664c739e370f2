/** A configuration file larger than this is not read, be it the gateway's own or a client's. */
export const MAX_CONFIG_BYTES = 33_554_432
