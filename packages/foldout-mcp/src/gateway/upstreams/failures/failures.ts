import { describeNetworkFailure } from '../../../shared/describe-network.ts'
import { isObject } from 'foldout-shared/values'
import { KEPT_STDERR_CHARACTERS } from './limits.ts'

/** Thrown when a server cannot be used now. The message is for people and models. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError'
  /** Why a server cannot be started, without the server's name and without when it is tried again. */
  readonly reason: string | undefined

  constructor(message: string, options: ErrorOptions & { readonly reason?: string } = {}) {
    super(message, options)
    this.reason = options.reason
  }
}

export function toSlowError(timeoutMs: number, hasGarbage: boolean): Error {
  const seconds = `${timeoutMs / 1_000} ${timeoutMs === 1_000 ? 'second' : 'seconds'}`
  if (!hasGarbage) return new Error(`It gave no answer within ${seconds}.`)
  return new Error(
    `It gave no answer within ${seconds}, but printed text that is not an MCP message on standard output:`,
  )
}

/** What is known about a failed start. */
interface Circumstances {
  readonly ending: string | undefined
  readonly complaint: string
}

export function describeFailure(error: unknown, { ending, complaint }: Circumstances): UpstreamError {
  // The SDK only says that the connection is closed.
  const message = ending ?? (error instanceof Error ? getRootMessage(error) : String(error))
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
    const hasSpace = 'path' in error && /\s/.test(String(error.path))
    const hint = hasSpace ? '. If the command has arguments, put each of them in "args".' : ''
    return new UpstreamError(`Its command was not found: ${message}${hint}`, { cause: error })
  }
  return new UpstreamError(complaint === '' ? message : `${message}\n${complaint}`, { cause: error })
}

/** The message "fetch failed" says nothing; its cause says, for example, that nothing listens on the port. */
function getRootMessage(error: Error): string {
  const answer = findAnswer(error)
  // The message about a redirect says where it leads.
  if (answer && answer.status >= 400) return describeAnswer(answer)
  const causes = listCauses(error)
  const message = causes.at(-1)?.message || error.message
  if (message === 'bad port') return BLOCKED_PORT
  return describeNetworkFailure(causes) ?? message
}

/** The error and its causes. */
function listCauses(error: Error): readonly Error[] {
  const seen = new Set([error])
  for (const { cause } of seen) if (cause instanceof Error) seen.add(cause)
  return [...seen]
}

/** What a server answered over HTTP instead of a message. */
interface HttpAnswer {
  readonly status: number
  readonly body: string
}

/** Whether an error is an answer over HTTP that is no message. */
export function isHttpAnswer(error: unknown): error is HttpAnswer {
  return isObject(error) && typeof error['status'] === 'number' && typeof error['body'] === 'string'
}

function findAnswer(error: Error): HttpAnswer | undefined {
  const causes: readonly unknown[] = listCauses(error)
  return causes.find(isHttpAnswer)
}

/** Whether a server says that nothing takes requests at its address, with one of the statuses that the protocol names. */
export function hasNoSuchAddress(error: unknown): boolean {
  const { status } = (error instanceof Error && findAnswer(error)) || {}
  return status === 400 || status === 404 || status === 405
}

/** An answer is often a web page for people, in which only the text is of interest. */
function describeAnswer({ status, body: text }: HttpAnswer): string {
  const start = text.slice(0, MOST_READ)
  const isPage = /^\s*<(?:!doctype|html)\b/i.test(start)
  const body = isPage ? start.replace(/^.*<body[^>]*>/is, '').replaceAll(/<[^>]*>/g, ' ') : start
  const said = body.replaceAll(/\s+/g, ' ').trim().slice(0, KEPT_STDERR_CHARACTERS)
  return `It answered with HTTP ${status}${said === '' ? '.' : `: ${said}`}`
}

/** How much of an answer is read. */
const MOST_READ = 10_000

/** The ports that fetch refuses belong to other protocols, such as 25 (mail) and 6000 (X11). */
const BLOCKED_PORT = 'Its url has a port that HTTP clients refuse to use. Run the server on another port.'
