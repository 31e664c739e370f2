import { readFileSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { outlineJson } from './outline.ts'
import { readJson } from './read-json.ts'
import { readText } from './read-text.ts'
import type { ReadingJob, ReadingResult, ResultSource } from './reading.ts'

parentPort?.on('message', ({ source, job }: { readonly source: ResultSource; readonly job: ReadingJob }) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(run(source, job))
})

function run(source: ResultSource, job: ReadingJob): ReadingResult {
  try {
    const text = 'text' in source ? source.text : readFileSync(source.file, 'utf8')
    if (job.type === 'outline') return { outline: outline(text) }
    const isItems = job.reading.unit === undefined ? job.isJson : job.reading.unit === 'items'
    return isItems || job.reading.path !== undefined
      ? readJson(JSON.parse(text), job.reading)
      : readText(text, job.reading)
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) }
  }
}

function outline(text: string): string | undefined {
  try {
    return outlineJson(JSON.parse(text))
  } catch {
    return undefined
  }
}
