/**
 * A prompt inside agents of Mastra.
 *
 * @module foldout/mastra
 */

export { FoldoutProcessor } from '../agent/hosts/mastra/processor.ts'
export type { MastraRequest, MastraResponse, MastraStep } from '../agent/hosts/mastra/stages.ts'
