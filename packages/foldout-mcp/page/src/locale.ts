const DEFAULT_LANGUAGE = 'en-US'

/**
 * The language of the browser. It may be one that is not valid, such as `en-US@posix`; then it is replaced for the whole page, because
 * the chart's library formats numbers in it while it is loaded. This module is loaded before, by the first view.
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
