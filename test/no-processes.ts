// The tests of `npm test` start no process, so that they are fast and need nothing but Node. Others are named
// `*.integration.test.ts`. Only git may be asked which files the repository has.
import childProcess from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'

const ALLOWED = /^(.*\/)?git(\.exe)?$/

function refuse(file: string): void {
  if (ALLOWED.test(file)) return
  throw new Error(`A test of npm test started '${file}'. Name the file of the test *.integration.test.ts.`)
}

interface SpawnOptions {
  readonly file: string
}

const prototype = childProcess.ChildProcess.prototype as unknown as { spawn(options: SpawnOptions): unknown }
const { spawn } = prototype
prototype.spawn = function refuseSpawn(options) {
  refuse(options.file)
  return spawn.call(this, options)
}

const { spawnSync, execFileSync } = childProcess
Object.assign(childProcess, {
  spawnSync(file: string, ...rest: unknown[]) {
    refuse(file)
    return Reflect.apply(spawnSync, undefined, [file, ...rest]) as unknown
  },
  execFileSync(file: string, ...rest: unknown[]) {
    refuse(file)
    return Reflect.apply(execFileSync, undefined, [file, ...rest]) as unknown
  },
})
syncBuiltinESMExports()
