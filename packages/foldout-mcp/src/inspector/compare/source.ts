import { open } from 'node:fs/promises'
import { describeRuns, readSavedLine, type CompareReport, type SavedHeader, type SavedRun } from 'foldout/compare'
import { findStats } from '../../shared/files.ts'
import type { InspectorSource } from '../inspector.ts'
import type { CompareView } from '../protocol/protocol.ts'
import { createLineReader, followFile } from '../runs/line-reader.ts'
import type { RunStore } from '../runs/store.ts'

const BEGINNING = '{"type":"header"'

/** Whether a file is what `compare` saves. */
export async function isComparison(file: string): Promise<boolean> {
  if (!findStats(file)?.isFile()) return false
  const handle = await open(file)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(BEGINNING.length), 0, BEGINNING.length, 0)
    return buffer.toString('utf8', 0, bytesRead) === BEGINNING
  } finally {
    await handle.close()
  }
}

/** A comparison that is shown while it grows. */
export interface CompareSource extends InspectorSource {
  close(): void
}

/** The compare view of a saved comparison. Its runs become part of a store. */
export async function followComparison(file: string, store: RunStore): Promise<CompareSource> {
  const runs = new Map<string, SavedRun>()
  const texts = new Map<string, string>()
  const listeners = new Set<() => void>()
  let header: SavedHeader | undefined
  let known: CompareReport | undefined
  const reader = createLineReader(file, (text) => {
    const line = readSavedLine(text)
    if (line?.type === 'text') texts.set(line.id, line.text)
    if (line?.type === 'event') store.add([{ version: 1, run: line.run, at: line.at, event: withText(line) }])
    if (line?.type === 'run') runs.set(line.run, line)
    if (line?.type === 'header') header = line
    if (line?.type === 'run' || line?.type === 'header') known = undefined
  })
  const withText = ({ event, text }: { readonly event: object; readonly text?: string }): object =>
    text === undefined ? event : { ...event, text: texts.get(text) ?? '' }
  const getView = (): CompareView => {
    if (!header || runs.size === 0) return { report: undefined, problem: 'The file has no runs yet.' }
    known ??= describeRuns(header, [...runs.values()])
    return { report: known, problem: undefined }
  }
  await reader.read()
  const stop = followFile(reader, () => {
    for (const listener of listeners) listener()
  })
  return {
    view: 'compare',
    handlers: { 'compare/get': getView },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: stop,
  }
}
