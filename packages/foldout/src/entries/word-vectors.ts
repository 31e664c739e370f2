/**
 * The word vectors that search by meaning uses: an entry of their own, so that a bundle can leave them out.
 *
 * @module foldout/word-vectors
 */

export { wordVectors } from '../catalog/search/vectors/packed-vectors.ts'
export type { VectorsHead, VectorsPart, WordVectorTable } from '../catalog/search/vectors/vectors.ts'
