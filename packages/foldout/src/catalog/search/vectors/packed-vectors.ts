import type { PackedVectors } from './vectors.ts'
import * as packed from './word-vectors.ts'

/**
 * The word vectors that search by meaning uses, 2.3 MB compressed. A catalog loads them at its first search.
 *
 * @example
 * // Leave them out of a bundle, here with esbuild, and turn off the search by meaning in the options of the catalog:
 * await build({ entryPoints: ['app.ts'], bundle: true, external: ['foldout/word-vectors'] })
 */
export const wordVectors: PackedVectors = packed
