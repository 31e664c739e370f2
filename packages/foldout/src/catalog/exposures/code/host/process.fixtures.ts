import { createSandbox } from '../../../../entries/code.ts'

// The process ends after its programs, although nothing closes the sandbox.
const sandbox = createSandbox({ limits: { timeMs: 300 } })
const { value } = await sandbox.run("await new Promise((done) => setTimeout(done, 50))\nreturn 'waited'", {
  functions: new Map(),
})
console.log(JSON.stringify({ value }))
const { limit } = await sandbox.run('Array.prototype.sort.call({ length: 2 ** 53 - 1 })', { functions: new Map() })
console.log(JSON.stringify({ limit }))
