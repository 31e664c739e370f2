/**
 * What is left of the official SDK: its sign-ins. Loaded when a server first asks for one; bundled, so that its packages need
 * not be installed.
 */
export {
  auth,
  ClientCredentialsProvider,
  discoverOAuthServerInfo,
  exchangeAuthorization,
  extractWWWAuthenticateParams,
  fetchToken,
  LATEST_PROTOCOL_VERSION,
  OAuthError,
  OAuthErrorCode,
  PrivateKeyJwtProvider,
  refreshAuthorization,
  selectResourceURL,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client'
