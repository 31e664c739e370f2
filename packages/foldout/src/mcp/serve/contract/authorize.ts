/**
 * The result of an `authorize` hook: who sent the request, or why it is rejected.
 *
 * @example
 * const anna: Authorization = { principal: 'anna' }
 * const refused: Authorization = { status: 403, message: 'Ask for access first.' }
 */
export type Authorization =
  | {
      /** Identifies the sender of the request. Limits and sessions are tracked for each principal. */
      readonly principal: string
    }
  | {
      /** 401 if credentials are missing or wrong, 403 if they are insufficient. */
      readonly status: 401 | 403
      /** The message for the client. Default: a sentence for the status. */
      readonly message?: string
      /** The `WWW-Authenticate` header, which tells a client how to sign in. Default for 401: `Bearer`. */
      readonly challenge?: string
    }

/**
 * Decides who sent a request over HTTP, from its URL and headers; its body may have been read. If it throws, the
 * request is rejected.
 *
 * @example
 * const authorize: Authorize = async (request) => {
 *   const user = await findUser(request.headers.get('authorization'))
 *   return user ? { principal: user.id } : { status: 401 }
 * }
 */
export type Authorize = (request: Request) => Authorization | Promise<Authorization>
