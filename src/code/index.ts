export { code, type CodeExposure, type CodeOptions } from './code.ts'
export { createSandbox, type RunOptions, type Sandbox, type SandboxOptions } from './sandbox.ts'
export type { SandboxLimits } from './limits.ts'
export type { LogLevel, ProgramError } from './messages.ts'
export type {
  LimitName,
  SandboxCall,
  SandboxFunction,
  SandboxFunctions,
  SandboxLog,
  SandboxRun,
} from './sandbox-run.ts'
