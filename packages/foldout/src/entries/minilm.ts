/**
 * A sentence encoder for search that runs locally: all-MiniLM-L6-v2.
 *
 * @module foldout/minilm
 */

export { createMiniLm, type MiniLm, type MiniLmOptions } from '../catalog/search/minilm/minilm.ts'
