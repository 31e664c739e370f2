import type { MediaPart } from '../contract.ts'
import { refuseKind, type InputKind } from '../user-parts.ts'

/** The provider requires a name. */
export const DEFAULT_FILE_NAME = 'file'

/** Models of OpenAI that read text only. All others read images and files. */
const TEXT_MODELS = /^(gpt-3\.5|gpt-4(-\d{4}(-preview)?|-32k.*)?$|o1-(mini|preview)|o3-mini|gpt-oss)/

const IMAGE_TYPES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif'])

/** What a model of OpenAI can be given besides text. */
export function getInputKinds(model: string): readonly InputKind[] {
  return TEXT_MODELS.test(model) ? [] : ['image', 'file']
}

export interface InputRules {
  readonly kinds: readonly InputKind[]
  readonly model: string
  /** Chat Completions takes files by their content only. */
  readonly isChat: boolean
}

/** Why a model cannot be given an image or a file; undefined if it can. */
export function refuseMedia(part: MediaPart, rules: InputRules): string | undefined {
  const { type, mediaType } = part
  const refusal = refuseKind(part, rules)
  if (refusal !== undefined) return refusal
  if (type === 'image' && mediaType !== undefined && !IMAGE_TYPES.has(mediaType))
    return `OpenAI's interfaces take images as PNG, JPEG, WebP or GIF, not as ${mediaType}. Convert the image.`
  if (type === 'file' && rules.isChat && !('data' in part))
    return 'Chat Completions does not take the address of a file. Load the file and pass its bytes as data.'
  return undefined
}
