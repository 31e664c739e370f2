/** Says in plain words why a connection failed, if the system's own words are only for experts. */
export function describeNetworkFailure(causes: readonly unknown[]): string | undefined {
  for (const cause of causes) {
    const message = cause instanceof Error && 'code' in cause ? describeCode(String(cause.code), cause) : undefined
    if (message !== undefined) return message
  }
  return undefined
}

const NO_TLS =
  'The server does not use HTTPS on this port. If it serves plain HTTP, its address must begin with http://.'
const SELF_SIGNED =
  'The certificate of the server is self-signed. If you trust it, set NODE_EXTRA_CA_CERTS to a file that contains it.'
const UNKNOWN_AUTHORITY =
  'The certificate of the server comes from an authority that is not trusted here. If you trust it, set NODE_EXTRA_CA_CERTS to a file with the certificate of that authority.'

const MESSAGES: ReadonlyMap<string, string> = new Map([
  ['EPROTO', NO_TLS],
  ['ERR_SSL_WRONG_VERSION_NUMBER', NO_TLS],
  ['ERR_SSL_PACKET_LENGTH_TOO_LONG', NO_TLS],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', SELF_SIGNED],
  ['SELF_SIGNED_CERT_IN_CHAIN', UNKNOWN_AUTHORITY],
  ['UNABLE_TO_GET_ISSUER_CERT', UNKNOWN_AUTHORITY],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', UNKNOWN_AUTHORITY],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', UNKNOWN_AUTHORITY],
  ['CERT_HAS_EXPIRED', 'The certificate of the server has expired. Renew it, or check the clock of this machine.'],
  ['CERT_NOT_YET_VALID', 'The certificate of the server is not valid yet. Check the clock of this machine.'],
  [
    'HPE_INVALID_CONSTANT',
    'The server does not answer in HTTP. If it uses HTTPS, its address must begin with https://.',
  ],
])

function describeCode(code: string, error: Error): string | undefined {
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return describeWrongHost(error)
  // What a server does that expects TLS.
  if (code === 'UND_ERR_SOCKET' && error.message === 'other side closed')
    return 'The server closed the connection without an answer. If it uses HTTPS, its address must begin with https://.'
  const known = MESSAGES.get(code)
  if (known !== undefined || !code.startsWith('ERR_SSL_')) return known
  const reason = 'reason' in error && typeof error.reason === 'string' ? error.reason : code
  return `The server and this program cannot agree on a secure connection: ${reason}.`
}

const MAX_HOSTS = 200

function describeWrongHost(error: Error): string {
  const { subjectaltname: names } = ('cert' in error ? error.cert : {}) as { readonly subjectaltname?: unknown }
  const hosts = typeof names === 'string' ? names.replaceAll(/\b(?:DNS|IP Address):/g, '').slice(0, MAX_HOSTS) : ''
  const whose = hosts === '' ? '' : ` It is for ${hosts}.`
  return `The certificate of the server is not valid for the host of its address.${whose}`
}
