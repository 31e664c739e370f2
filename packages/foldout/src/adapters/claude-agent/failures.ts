import { FoldoutError, getErrorMessage } from '../../core/errors.ts'
import type { SdkResultMessage } from './sdk.ts'

/** Reasons, in the SDK's words, that asking again does not mend. */
const REFUSALS: ReadonlySet<string> = new Set([
  'authentication_failed',
  'oauth_org_not_allowed',
  'account_on_hold',
  'verification_required',
  'billing_error',
  'invalid_request',
  'model_not_found',
  'max_output_tokens',
  'cloud_credential_error',
])
const RETRYABLE_STATUSES: ReadonlySet<number> = new Set([408, 409, 429])

/** The error that a query's last message stands for. `reason` is what the reply before it named as one. */
export function resultFailure(result: SdkResultMessage, reason: string | undefined): FoldoutError {
  const said = [...new Set([...(result.errors ?? []), result.result ?? ''])].filter((text) => text !== '').join('; ')
  const why = said || reason || result.subtype
  const status = result.api_error_status ?? undefined
  if (/^error_max_(turns|budget)/.test(result.subtype)) {
    return new FoldoutError(
      'adapter-refused',
      `The Claude Agent SDK stopped at a limit of its own (${result.subtype}): ${why}. Raise or leave out the limit in 'options'.`,
    )
  }
  const isRefusal =
    status === undefined
      ? reason !== undefined && REFUSALS.has(reason)
      : status >= 400 && status < 500 && !RETRYABLE_STATUSES.has(status)
  if (isRefusal) {
    const code = status === undefined ? reason : `status ${status}`
    return new FoldoutError('adapter-refused', `Anthropic refused the request (${code}): ${why}`)
  }
  return new FoldoutError(
    'adapter-unavailable',
    `The Claude Agent SDK could not get a reply, and its own retries are used up: ${why}`,
  )
}

/** What the SDK threw: mostly an executable that did not start or ended early. */
export function thrownFailure(thrown: unknown): unknown {
  if (thrown instanceof FoldoutError) return thrown
  return new FoldoutError(
    'adapter-unavailable',
    `The executable of the Claude Agent SDK failed: ${getErrorMessage(thrown)}. See what it prints by giving 'stderr' in 'options'.`,
    { cause: thrown },
  )
}

export function cutFailure(): FoldoutError {
  return new FoldoutError(
    'adapter-stream-cut',
    'The reply was cut off before its end. Run the conversation again from its last message.',
  )
}
