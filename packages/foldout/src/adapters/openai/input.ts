import type { MediaPart } from '../contract.ts'
import { refuseKind, type InputKind } from '../user-parts.ts'

/** The provider requires a file name. */
export const DEFAULT_FILE_NAME = 'file'

/** OpenAI models that read only text. All others read images and files. */
const TEXT_MODELS = /^(ft:)?(gpt-3\.5|gpt-4(-\d{4}(-preview)?|-32k.*)?$|o1-(mini|preview)|o3-mini|gpt-oss)/

const IMAGE_TYPES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif'])

/** Returns the kinds of input that an OpenAI model accepts besides text. */
export function getInputKinds(model: string): readonly InputKind[] {
  if (TEXT_MODELS.test(model)) return []
  return ['image', 'file']
}

export interface InputRules {
  readonly kinds: readonly InputKind[]
  readonly model: string
  /** Whether the API is Chat Completions, which accepts files only by their content. */
  readonly isChat: boolean
}

/** Says why a model does not accept an image or a file; undefined if it does. */
export function refuseMedia(part: MediaPart, rules: InputRules): string | undefined {
  const { type, mediaType } = part
  const refusal = refuseKind(part, rules)
  if (refusal !== undefined) return refusal
  if (type === 'image' && mediaType !== undefined && !IMAGE_TYPES.has(mediaType))
    return `OpenAI accepts PNG, JPEG, WebP and GIF images, not ${mediaType}. Convert the image.`
  if (type === 'file' && rules.isChat && !('data' in part))
    return 'Chat Completions does not accept the URL of a file. Load the file and pass its bytes as data.'
  return undefined
}
