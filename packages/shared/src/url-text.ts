/** Decodes a part of a URL. Text that is not encoded correctly stays as it is. */
export function decodeUrlPart(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
