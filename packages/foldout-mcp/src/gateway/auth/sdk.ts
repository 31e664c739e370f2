/**
 * What is left of the official SDK: its sign-ins, and its checks of questions. Loaded when a server first asks for a
 * sign-in, or first asks a modern client; bundled, so that its packages need not be installed.
 */
export {
  auth,
  ClientCredentialsProvider,
  discoverOAuthServerInfo,
  exchangeAuthorization,
  extractWWWAuthenticateParams,
  fetchToken,
  isSpecType,
  LATEST_PROTOCOL_VERSION,
  OAuthError,
  OAuthErrorCode,
  PrivateKeyJwtProvider,
  refreshAuthorization,
  selectResourceURL,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client'
