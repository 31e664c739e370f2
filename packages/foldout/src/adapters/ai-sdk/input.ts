import type { LanguageModel } from 'ai'
import { FoldoutError } from '../../core/errors.ts'
import type { MediaPart } from '../contract.ts'

const BY_DATA =
  'The AI SDK would load it in this process, from any URL that a user may enter. Load it yourself and pass its bytes as data.'

/** Says why a model cannot take media from a URL: its provider does not load URLs itself. */
export function refuseAddress(part: MediaPart, model: LanguageModel): string | undefined {
  if ('data' in part || typeof model === 'string') return undefined
  const { supportedUrls: supported } = model
  // A provider may have to look it up; in that case, the request itself is rejected.
  if (isPromise(supported)) return undefined
  const mediaType = part.mediaType ?? (part.type === 'image' ? 'image/*' : 'application/pdf')
  if (isSupported(part.url, mediaType, supported)) return undefined
  return `The provider of '${model.modelId}' does not load ${mediaType} from this URL. ${BY_DATA}`
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

/** Passes URLs on to the provider. Otherwise, the SDK would load those that the provider does not. */
export async function forbidDownloads(requested: readonly Download[]): Promise<null[]> {
  return requested.map(({ url, isUrlSupportedByModel }) => {
    if (isUrlSupportedByModel) return null
    throw new FoldoutError('input-unsupported', `The model's provider does not load ${url.href}. ${BY_DATA}`)
  })
}
