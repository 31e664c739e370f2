import { FoldoutError } from '../core/errors.ts'
import { shorten } from '../core/text.ts'
import { countBytes } from '../adapters/user-parts.ts'
import { MAX_INPUT_BYTES, MAX_INPUT_URL_CHARACTERS } from './limits.ts'

/** An unchecked image or file: every field may be anything. */
export interface GivenMedia {
  readonly type: 'image' | 'file'
  readonly data: unknown
  readonly url: unknown
  readonly mediaType: unknown
  /** The maximum number of bytes. */
  readonly bytesLeft: number
}

type Fail = (problem: string) => FoldoutError

/** The content of an image or a file as a conversation stores it. */
export type ReadMedia =
  | { readonly data: string; readonly mediaType: string }
  | { readonly url: string; readonly mediaType?: string }

export function readMedia(given: GivenMedia, fail: Fail): ReadMedia {
  const stated = given.mediaType === undefined ? undefined : readMediaType(given.mediaType, fail)
  if (given.url !== undefined) return readAddress(given, stated, fail)
  return readContent(given.data, { ...given, stated }, fail)
}

interface ContentOptions extends Pick<GivenMedia, 'type' | 'bytesLeft'> {
  /** The media type stated by the caller. */
  readonly stated: string | undefined
}

function readContent(data: unknown, { type, bytesLeft, stated }: ContentOptions, fail: Fail): ReadMedia {
  const base64 = toBase64(data, bytesLeft, fail)
  const found = detectMediaType(base64, stated)
  const mediaType = stated ?? found
  if (mediaType === undefined)
    throw fail(`has a ${type} whose media type is not stated and cannot be detected from its bytes; add mediaType`)
  checkKind(type, mediaType, fail)
  // Providers reject such content, or show the model something other than what was checked here.
  if (found !== undefined && found !== mediaType) throw fail(`says ${mediaType}, but its bytes are ${found}`)
  if (found === undefined && DETECTED.has(mediaType)) throw fail(`says ${mediaType}, but its bytes are not`)
  return { data: base64, mediaType }
}

function checkKind(type: GivenMedia['type'], mediaType: string, fail: Fail): void {
  if (mediaType.startsWith('image/') !== (type === 'image'))
    throw fail(`has the type '${type}' for ${mediaType}; images have the type 'image', everything else is a 'file'`)
}

const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/

/** Returns the media type in lowercase and without parameters, which no provider needs. */
function readMediaType(given: unknown, fail: Fail): string {
  const [name = ''] = typeof given === 'string' ? given.slice(0, 500).split(';') : []
  const mediaType = name.trim().toLowerCase()
  if (!MEDIA_TYPE.test(mediaType)) throw fail('has an invalid mediaType; use one such as image/png')
  // A common mistake.
  if (mediaType === 'image/jpg') return 'image/jpeg'
  return mediaType
}

function readAddress(given: GivenMedia, stated: string | undefined, fail: Fail): ReadMedia {
  const { url, type, bytesLeft } = given
  const address = url instanceof URL ? url.href : url
  if (typeof address !== 'string') throw fail('has a url that is not a string')
  if (/^data:/i.test(address)) return readDataUrl(address, { type, bytesLeft, stated }, fail)
  if (address.length > MAX_INPUT_URL_CHARACTERS)
    throw fail(`has a url of ${address.length} characters; at most ${MAX_INPUT_URL_CHARACTERS} are allowed`)
  if (!URL.canParse(address)) throw fail('has an invalid url; use one such as https://example.com/a.png')
  const { protocol, username, password } = new URL(address)
  if (protocol === 'http:')
    throw new FoldoutError(
      'input-unsupported',
      `Providers load images and files only from https: addresses, not from '${shorten(address)}'. Load the content and pass it as data.`,
    )
  if (protocol !== 'https:')
    throw fail(
      `has a url that begins with ${protocol}, which a provider cannot load; read the content and pass it as data`,
    )
  if (username !== '' || password !== '')
    throw fail('has a url with a password, which the provider would see; load the content and pass it as data')
  if (stated !== undefined) checkKind(type, stated, fail)
  if (stated === undefined) return { url: address }
  return { url: address, mediaType: stated }
}

function readDataUrl(address: string, options: ContentOptions, fail: Fail): ReadMedia {
  const comma = address.indexOf(',')
  // The part before the comma is short in every real data URL.
  if (comma < 0 || comma > 500) throw fail('has a data: URL without a comma before its content')
  const [named = '', ...flags] = address.slice('data:'.length, comma).split(';')
  const own = named === '' ? undefined : readMediaType(named, fail)
  const { stated = own } = options
  if (own !== undefined && own !== stated) throw fail(`says ${stated}, but its data: URL says ${own}`)
  const content = address.slice(comma + 1)
  const isBase64 = flags.some((flag) => flag.trim().toLowerCase() === 'base64')
  return readContent(isBase64 ? content : decodeText(content, options, fail), { ...options, stated }, fail)
}

function decodeText(content: string, { bytesLeft }: ContentOptions, fail: Fail): Uint8Array {
  // Each byte takes up to three characters.
  if (content.length > bytesLeft * 3) throw tooLarge(fail)
  try {
    return new TextEncoder().encode(decodeURIComponent(content))
  } catch {
    throw fail('has a data: URL that is not percent-encoded UTF-8; write it in Base64')
  }
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

function toBase64(data: unknown, bytesLeft: number, fail: Fail): string {
  if (typeof data === 'string') {
    if (countBytes(data) > bytesLeft) throw tooLarge(fail)
    if (data === '' || data.length % 4 !== 0 || !BASE64.test(data))
      throw fail('has data that is not Base64; pass the bytes themselves, or a data: URL as url')
    return data
  }
  if (!(data instanceof Uint8Array)) throw fail('has data that is neither bytes nor a Base64 string')
  if (data.length === 0) throw fail('has empty data')
  if (data.length > bytesLeft) throw tooLarge(fail)
  return encodeBase64(data)
}

function tooLarge(fail: Fail): FoldoutError {
  return fail(
    `has more than ${MAX_INPUT_BYTES / 1024 / 1024} MB of images and files; make them smaller, or pass their addresses as url`,
  )
}

/** A multiple of three, so the encoded pieces can be joined. */
const PIECE = 0x6000

function encodeBase64(bytes: Uint8Array): string {
  const pieces: string[] = []
  for (let at = 0; at < bytes.length; at += PIECE) {
    pieces.push(btoa(String.fromCharCode(...bytes.subarray(at, at + PIECE))))
  }
  return pieces.join('')
}

/** The first bytes of content of these types, in Latin-1. */
const BEGINNINGS: readonly (readonly [mediaType: string, beginning: RegExp])[] = [
  ['image/png', /^\x89PNG\r\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF[^]{4}WEBP/],
  ['application/pdf', /^%PDF-/],
]
const DETECTED: ReadonlySet<string> = new Set(BEGINNINGS.map(([mediaType]) => mediaType))

function detectMediaType(base64: string, stated: string | undefined): string | undefined {
  // 1,368 characters of Base64 are 1,026 bytes.
  const head = atob(base64.slice(0, 1368))
  // PDF readers allow other content before the first line.
  if (stated === 'application/pdf' && head.includes('%PDF-')) return stated
  return BEGINNINGS.find(([, beginning]) => beginning.test(head))?.[0]
}
