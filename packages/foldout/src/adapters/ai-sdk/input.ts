import type { LanguageModel } from 'ai'
import { FoldoutError } from '../../core/errors.ts'
import type { MediaPart } from '../contract.ts'

const BY_DATA =
  'The AI SDK would load it in this process, from any address that a user may name. Load it yourself and pass its bytes as data.'

/** Why a model is not given what is at an address: its provider does not load addresses itself. */
export function refuseAddress(part: MediaPart, model: LanguageModel): string | undefined {
  if ('data' in part || typeof model === 'string') return undefined
  const { supportedUrls: supported } = model
  // A provider may have to look it up; then the request itself is where it is refused.
  if (isPromise(supported)) return undefined
  const mediaType = part.mediaType ?? (part.type === 'image' ? 'image/*' : 'application/pdf')
  if (isSupported(part.url, mediaType, supported)) return undefined
  return `The provider of '${model.modelId}' does not load ${mediaType} from this address. ${BY_DATA}`
}

function isSupported(url: string, mediaType: string, supported: Readonly<Record<string, readonly RegExp[]>>): boolean {
  const address = url.toLowerCase()
  return Object.entries(supported).some(([type, patterns]) => {
    const [kind] = mediaType.split('/')
    const isType = type === '*' || type === '*/*' || type === mediaType || type === `${kind}/*`
    return isType && patterns.some((pattern) => pattern.test(address))
  })
}

function isPromise<T>(value: PromiseLike<T> | T): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && 'then' in value
}

interface Download {
  readonly url: URL
  readonly isUrlSupportedByModel: boolean
}

/** Passes addresses on to the provider. The SDK would otherwise load those that the provider does not. */
export async function forbidDownloads(requested: readonly Download[]): Promise<null[]> {
  return requested.map(({ url, isUrlSupportedByModel }) => {
    if (isUrlSupportedByModel) return null
    throw new FoldoutError('input-unsupported', `The model's provider does not load ${url.href}. ${BY_DATA}`)
  })
}
