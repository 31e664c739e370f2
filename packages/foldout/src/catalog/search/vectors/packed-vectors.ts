import * as table from '../../../../word-vectors/index.js'
import type { WordVectorTable } from './vector-table.ts'

/**
 * The word vectors with which a search finds tools that say the same in other words, 2.3 MB compressed. A catalog loads
 * them by itself, in the background and in parts.
 *
 * @example
 * ```ts
 * // Leave them out of a bundle, here with esbuild; searches then compare words alone:
 * await build({ entryPoints: ['app.ts'], bundle: true, external: ['foldout/word-vectors'] })
 * ```
 */
export const wordVectors: WordVectorTable = table
