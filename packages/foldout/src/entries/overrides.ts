/**
 * Overrides of a prompt's wording, and the reasons why some of them do not apply.
 *
 * @module foldout/overrides
 */

export type { PromptDescriptor, SectionDescriptor, ToolDescriptor } from '../prompt/overrides/descriptor.ts'
export { findIgnoredOverrides, sourceOverrides } from '../prompt/override-store/editing.ts'
export type {
  AheadOverride,
  IgnoredOverride,
  PromptOverrides,
  SectionOverride,
  ToolOverride,
} from '../prompt/overrides/overrides.ts'
