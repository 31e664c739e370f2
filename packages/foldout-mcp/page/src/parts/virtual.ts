import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualItem,
} from '@tanstack/virtual-core'
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks'

export interface VirtualOptions {
  readonly count: number
  /** The height of every row, in pixels. */
  readonly height: number
  /** A row that is larger than the others. */
  readonly large?: { readonly index: number; readonly height: number } | undefined
}

export interface Virtual {
  /** Give it to the element that scrolls. */
  readonly scroller: { current: HTMLDivElement | null }
  readonly items: readonly VirtualItem[]
  /** The height of all rows. */
  readonly size: number
  show(index: number): void
}

/** Rows that exist only while they can be seen, so that long lists stay quick. */
export function useVirtual({ count, height, large }: VirtualOptions): Virtual {
  const scroller = useRef<HTMLDivElement | null>(null)
  const [, draw] = useReducer<number, void>((times) => times + 1, 0)
  const options = {
    count,
    estimateSize: (index: number) => {
      if (index === large?.index) return large.height
      return height
    },
    getScrollElement: () => scroller.current,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    overscan: 8,
    onChange: () => draw(),
  }
  const [virtualizer] = useState(() => new Virtualizer<HTMLDivElement, HTMLElement>(options))
  virtualizer.setOptions(options)
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer])
  useLayoutEffect(() => virtualizer._willUpdate())
  useEffect(() => virtualizer.measure(), [large?.index])
  return {
    scroller,
    items: virtualizer.getVirtualItems(),
    size: virtualizer.getTotalSize(),
    show: (index) => virtualizer.scrollToIndex(index, { align: 'auto' }),
  }
}
