import { readRecordingFile } from 'foldout/node'
import type { Recording } from 'foldout/telemetry'
import { UsageError } from '../../gateway/config/config.ts'
import { requireFile } from '../../gateway/config/text-file.ts'

/** Reads the recorded runs that the user named. */
export async function readRuns(file: string): Promise<readonly Recording[]> {
  await requireFile(file)
  return readRecordingFile(file).catch((error: Error) => {
    throw new UsageError(error.message, { cause: error })
  })
}
