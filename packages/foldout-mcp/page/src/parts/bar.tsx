/** One bar for several shares of a whole. The figures beside it say the same, so it is hidden from screen readers. */
export function Bar({ parts, whole }: { readonly parts: readonly BarPart[]; readonly whole: number }) {
  return (
    <span class="meter" aria-hidden="true">
      {parts.map(({ kind, value }) => (
        <span key={kind} class={`meter-part ${kind}`} style={{ width: `${toPercent(value, whole)}%` }} />
      ))}
    </span>
  )
}

export interface BarPart {
  readonly kind: 'now' | 'more' | 'tools' | 'good' | 'bad'
  readonly value: number
}

function toPercent(value: number, whole: number): number {
  if (whole <= 0) return 0
  return Math.min(100, Math.max(0, (value / whole) * 100))
}
