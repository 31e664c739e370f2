import { createSandbox, type SandboxFunction, type SandboxFunctions, type SandboxRun } from 'foldout/code'

export const sandbox = createSandbox()
export const getWeather: SandboxFunction = () => 'sunny'
export const functions: SandboxFunctions = new Map([
  ['add', (args) => (args as { a: number; b: number }).a + (args as { a: number; b: number }).b],
])
export const run: SandboxRun = await sandbox.run('console.warn("low"); return missing', { functions })
