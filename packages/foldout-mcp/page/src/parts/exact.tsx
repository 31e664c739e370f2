import { findInvisible } from '../base/format.ts'

/**
 * A text from outside, exactly, with its invisible characters marked: they can hide instructions from people, and turn the direction
 * of the text next to them.
 */
export function Exact({ text }: { readonly text: string }) {
  const parts = findInvisible(text)
  if (parts.length === 1) return <>{text}</>
  return (
    <>
      {parts.map(({ text: part, code }, i) => {
        if (code === undefined) return part
        return (
          <mark key={i} class="invisible" title={`An invisible character: ${code}`}>
            {code}
          </mark>
        )
      })}
    </>
  )
}
