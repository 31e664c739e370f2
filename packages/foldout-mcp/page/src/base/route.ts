import { decodeUrlPart } from 'foldout-shared/url-text'
import { computed, signal } from '@preact/signals'
import { VIEWS, type ViewName } from '../../../src/inspector/protocol/protocol.ts'

const hash = signal(location.hash)
addEventListener('hashchange', () => {
  hash.value = location.hash
})

export interface Route {
  readonly view: ViewName | undefined
  /** What is shown in the view, such as the id of a run. */
  readonly rest: readonly string[]
}

/** Which view is shown, from the part of the address that no server sees. */
export const route = computed<Route>(() => {
  const [, view = '', ...rest] = hash.value.split('/')
  return { view: VIEWS.find((each) => each === view), rest: rest.map(decodeUrlPart) }
})

export function toHref(view: ViewName, ...rest: readonly string[]): string {
  return `#/${[view, ...rest.map(encodeURIComponent)].join('/')}`
}

/** The address of this page, with its token. */
export const getAddress = (): string => location.href.replace(/[?#].*$/, '')
