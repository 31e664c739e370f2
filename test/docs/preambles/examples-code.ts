import type { Sandbox, SandboxFunction, SandboxFunctions, SandboxRun } from 'foldout/code'

export declare const run: SandboxRun
export declare const sandbox: Sandbox
export declare const functions: SandboxFunctions
export declare const getWeather: SandboxFunction
