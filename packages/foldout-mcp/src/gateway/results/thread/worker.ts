import { readFileSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { outlineText, readPart } from 'foldout/results'
import type { ReadingJob, ReadingResult, ResultSource } from './job.ts'
import { getErrorMessage } from '../../../shared/errors.ts'

parentPort?.on('message', ({ source, job }: { readonly source: ResultSource; readonly job: ReadingJob }) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  void run(source, job).then((result) => parentPort?.postMessage(result))
})

async function run(source: ResultSource, job: ReadingJob): Promise<ReadingResult> {
  try {
    const text = 'text' in source ? source.text : readFileSync(source.file, 'utf8')
    if (job.type === 'outline') return { outline: outlineText(text) }
    return await readPart(text, { ...job.reading, hasOwnThread: true }, job.isJson)
  } catch (error) {
    return { fault: getErrorMessage(error) }
  }
}
