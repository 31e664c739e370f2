const DEFAULT_LANGUAGE = 'en-US'

/**
 * The browser's language. It may be invalid, such as `en-US@posix`; then it is replaced for the whole page, because
 * the chart library uses it to format numbers while it loads. The first view loads this module earlier.
 */
export const language = readLanguage()

function readLanguage(): string {
  const [valid] = getValid(navigator.language)
  if (valid !== undefined) return valid
  Object.defineProperty(navigator, 'language', { value: DEFAULT_LANGUAGE })
  return DEFAULT_LANGUAGE
}

function getValid(name: string): readonly string[] {
  try {
    return Intl.getCanonicalLocales(name)
  } catch {
    return []
  }
}
