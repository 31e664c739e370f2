import { FoldoutError, getErrorMessage } from './errors.ts'

/** Loads an optional package, as in `importPeer('libsql', () => import('libsql'))`, or throws an error that says how to install it. */
export async function importPeer<Module>(name: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load()
  } catch (error) {
    if (isMissing(error, name)) throw createMissingError(name, error)
    throw new FoldoutError(
      'peer-broken',
      `The package '${name}' cannot be loaded, although it seems to be installed. Install it again: npm install ${name}. The reason: ${getErrorMessage(error)}`,
      { cause: error },
    )
  }
}

/**
 * Like {@link importPeer}, throws if an optional package is not installed, but without loading it: `checkPeer('libsql',
 * import.meta.resolve)`. Where packages cannot be resolved, as in a bundle, the error comes when the package is used.
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
    `The package '${name}' is required here and is not installed. Run: npm install ${name}`,
    { cause },
  )
}

function isMissing(error: unknown, name: string): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const isNotFound = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND'
  // The package may be installed and lack one of its own dependencies. The quotes rule out a longer name that contains it.
  return isNotFound && (getErrorMessage(error).includes(`'${name}'`) || getErrorMessage(error).includes(`'${name}/`))
}
