import { FoldoutError, getErrorMessage } from '../../core/errors.ts'
import { AdapterError } from '../adapter-error.ts'
import type { SdkResultMessage } from './sdk.ts'

const ADAPTER = 'anthropic'

/** The SDK's names for failures that a retry does not fix. */
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

/** Converts a query's last message to an error. `reason` comes from the reply before it. */
export function toResultFailure(result: SdkResultMessage, reason: string | undefined): AdapterError {
  const said = [...new Set([...(result.errors ?? []), result.result ?? ''])].filter((text) => text !== '').join('; ')
  const why = said || reason || result.subtype
  const status = result.api_error_status ?? undefined
  const details = { adapter: ADAPTER, status }
  if (/^error_max_(turns|budget)/.test(result.subtype)) {
    return new AdapterError(
      'adapter-refused',
      `The Claude Agent SDK stopped at one of its own limits (${result.subtype}): ${why}. Raise or remove the limit in 'options'.`,
      details,
    )
  }
  if (isRefusal(status, reason)) {
    const what = status === undefined ? reason : `status ${status}`
    return new AdapterError('adapter-refused', `Anthropic rejected the request (${what}): ${why}`, details)
  }
  return new AdapterError(
    'adapter-unavailable',
    `The Claude Agent SDK could not get a reply, and its own retries are used up: ${why}`,
    details,
  )
}

function isRefusal(status: number | undefined, reason: string | undefined): boolean {
  if (status === undefined) return reason !== undefined && REFUSALS.has(reason)
  return status >= 400 && status < 500 && !RETRYABLE_STATUSES.has(status)
}

/** Converts an error that the SDK threw, usually because the executable did not start or ended early. */
export function toThrownFailure(thrown: unknown): FoldoutError {
  if (thrown instanceof FoldoutError) return thrown
  return new AdapterError(
    'adapter-unavailable',
    `The executable of the Claude Agent SDK failed: ${getErrorMessage(thrown)}. To see its output, pass 'stderr' in 'options'.`,
    { adapter: ADAPTER, cause: thrown },
  )
}

export function createCutFailure(): AdapterError {
  return new AdapterError(
    'adapter-stream-cut',
    'The reply was cut off. Run the conversation again from its last message.',
    { adapter: ADAPTER },
  )
}
