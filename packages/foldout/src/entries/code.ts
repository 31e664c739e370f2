/**
 * An exposure that lets a model write programs against typed stubs, and the sandbox that runs them.
 *
 * @module foldout/code
 */

export { code, type CodeExposure, type CodeOptions } from '../catalog/exposures/code/code.ts'
export {
  createSandbox,
  type RunOptions,
  type Sandbox,
  type SandboxOptions,
} from '../catalog/exposures/code/host/sandbox.ts'
export type { SandboxLimits } from '../catalog/exposures/code/contract/limits.ts'
export type { LogLevel, ProgramError } from '../catalog/exposures/code/contract/messages.ts'
export type {
  LimitName,
  SandboxCall,
  SandboxFunction,
  SandboxFunctions,
  SandboxLog,
  SandboxRun,
} from '../catalog/exposures/code/host/sandbox-run.ts'
