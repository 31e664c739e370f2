/**
 * The word vectors for search by meaning. They have their own entry, so a bundle can leave them out.
 *
 * @module foldout/word-vectors
 */

export { wordVectors } from '../catalog/search/vectors/packed-vectors.ts'
export type { VectorsHead, VectorsPart, WordVectorTable } from '../catalog/search/vectors/vector-table.ts'
