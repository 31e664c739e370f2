// Gateways keep the user's decisions in a folder of the user's. Tests get one of their own, which is removed after the last of them.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeFolder } from './remove-folder.ts'

let folder: string | undefined

export function setup(): void {
  folder = mkdtempSync(join(tmpdir(), 'foldout-data-'))
  // Workers are started later, with the variables of this process.
  process.env['XDG_DATA_HOME'] = folder
}

export async function teardown(): Promise<void> {
  if (folder !== undefined) await removeFolder(folder)
}
