import { effect, signal } from '@preact/signals'

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const KEY = 'foldout-theme'

export const theme = signal<Theme>(THEMES.find((each) => each === read()) ?? 'system')

/** A page from a file may have no storage. */
function read(): string | null {
  try {
    return localStorage.getItem(KEY)
  } catch {
    return null
  }
}

effect(() => {
  document.documentElement.dataset['theme'] = theme.value
  try {
    localStorage.setItem(KEY, theme.value)
  } catch {
    // The choice lasts as long as the page.
  }
})
