/**
 * Overrides of wording: what a prompt lets you change, and which changes were left out.
 *
 * @module foldout/overrides
 */

export type { PromptDescriptor, SectionDescriptor, ToolDescriptor } from '../prompt/overrides/descriptor.ts'
export { findIgnoredOverrides, sourceOverrides } from '../prompt/overrides/editing.ts'
export type { IgnoredOverride, PromptOverrides, SectionOverride, ToolOverride } from '../prompt/overrides/overrides.ts'
