import type { Exposure } from '../../exposure.ts'
import { checkCore, getCoreTools, type CoreOptions } from '../core.ts'
import { createExposedCatalog } from '../exposed-catalog.ts'
import { createLookUpTool } from './look-up-tools.ts'
import { createRunCode } from './run-code.ts'
import { createSandbox, type Sandbox, type SandboxOptions } from './host/sandbox.ts'

/**
 * Options of `code()`: the tools it lists in addition to its own two, and where programs run.
 *
 * @example
 * ```ts
 * code({ core: ['home/list_rooms'], sandbox: { limits: { timeMs: 2_000 } } })
 * ```
 */
export interface CodeOptions extends CoreOptions {
  /** The sandbox that programs run in, or its options. Default: a sandbox with the default limits. */
  readonly sandbox?: Sandbox | SandboxOptions
}

/**
 * An exposure that runs programs.
 *
 * @example
 * ```ts
 * const exposure = code()
 * process.on('SIGTERM', () => exposure.close())
 * ```
 */
export interface CodeExposure extends Exposure {
  /** Ends the threads of the sandbox, unless you passed the sandbox in. Threads do not keep the process alive. */
  close(): void
}

const INSTRUCTIONS =
  'The tools are functions for programs that you write. 1. Call look_up_tools with what you want to do: it answers with declarations, servers/<server>/<tool>.d.ts. 2. Call run_code with TypeScript such as `const all = await <server>.<tool>({ … }); return all.length`. Do several steps in one program, and return only what you need to see.'

const HINT = 'Use look_up_tools to find tools.'

/**
 * Lists the core tools, `look_up_tools` and `run_code`: the model writes programs that call the tools. Requires the package
 * `quickjs-wasi`, and throws immediately if it is not installed.
 *
 * @example
 * ```ts
 * await serveMcp(createCatalog(tools), { name: 'home', version: '1.0.0', expose: code() })
 * ```
 */
export function code(options: CodeOptions = {}): CodeExposure {
  const { sandbox: given = {} } = options
  const sandbox = 'run' in given ? given : createSandbox(given)
  return Object.freeze({
    name: 'code',
    check: (catalog) => checkCore(catalog, options),
    expose(catalog, client) {
      const scope = { catalog, client }
      return createExposedCatalog({
        ...scope,
        exposure: 'code',
        instructions: INSTRUCTIONS,
        entries: () => getCoreTools(catalog, options).entries,
        metaTools: [createLookUpTool(scope), createRunCode(scope, sandbox)],
        hint: HINT,
      })
    },
    close() {
      if (sandbox !== given) sandbox.close()
    },
  } satisfies CodeExposure)
}
