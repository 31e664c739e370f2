import { useState } from 'preact/hooks'

/** Copies a text, and says so. */
export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const [state, setState] = useState<'ready' | 'done' | 'failed'>('ready')
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text)
      setState('done')
    } catch {
      setState('failed')
    }
    setTimeout(() => setState('ready'), 2_000)
  }
  const words = { ready: label, done: 'Copied', failed: 'Not allowed' }
  return (
    <button type="button" onClick={() => void copy()}>
      <span aria-live="polite">{words[state]}</span>
    </button>
  )
}
