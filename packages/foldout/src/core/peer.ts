import { FoldoutError, getErrorMessage } from './errors.ts'

/** Loads an optional package, `importPeer('libsql', () => import('libsql'))`, or says how to install it. */
export async function importPeer<Module>(name: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load()
  } catch (error) {
    if (isMissing(error, name)) throw createMissingError(name, error)
    throw new FoldoutError(
      'peer-broken',
      `The package '${name}' cannot be loaded, though it seems to be installed. Install it again: npm install ${name}. The reason: ${getErrorMessage(error)}`,
      { cause: error },
    )
  }
}

/**
 * Throws the same error at once if an optional package is not installed, without loading it: `checkPeer('libsql',
 * import.meta.resolve)`. Where nothing can be resolved, such as in a bundle, it is told when the package is used.
 */
export function checkPeer(name: string, resolve: ((name: string) => unknown) | undefined): void {
  try {
    resolve?.(name)
  } catch (error) {
    if (isMissing(error, name)) throw createMissingError(name, error)
  }
}

function createMissingError(name: string, cause: unknown): FoldoutError {
  return new FoldoutError(
    'peer-missing',
    `The package '${name}' is needed here and is not installed. Run: npm install ${name}`,
    { cause },
  )
}

function isMissing(error: unknown, name: string): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const isNotFound = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND'
  // The package may be there and lack a dependency of its own, which the quotes tell apart from a name that contains it.
  return isNotFound && (getErrorMessage(error).includes(`'${name}'`) || getErrorMessage(error).includes(`'${name}/`))
}
