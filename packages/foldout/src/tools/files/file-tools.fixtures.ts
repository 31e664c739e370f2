import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { createSession } from '../../session/session.ts'
import { executeTool } from '../execute.ts'
import { fileTools } from './file-tools.ts'
import type { Filesystem } from '../../files/filesystem.ts'

export const tools = new Map(fileTools().map((tool) => [tool.name, tool]))

/** The message for the model, with `FAILED: ` before a failure. */
export async function call(
  filesystem: Filesystem | undefined,
  name: string,
  args: Readonly<Record<string, unknown>>,
  signal = new AbortController().signal,
): Promise<string> {
  const context = { session: createSession(), signal, deadline: undefined, filesystem, prompt: undefined }
  const { ok, message } = await executeTool(tools.get(name)!, args, context)
  return ok ? message : `FAILED: ${message}`
}

const made: string[] = []
afterAll(async () => {
  for (const folder of made) await rm(folder, { recursive: true, force: true })
})
/** Creates a folder that is removed after the tests of the file. */
export async function hostFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'foldout-'))
  made.push(folder)
  return folder
}
