import { join } from 'node:path'
import { createCatalog } from '../../packages/foldout/src/catalog/live/catalog.ts'
import type { Catalog } from '../../packages/foldout/src/catalog/contract.ts'
import { all } from '../../packages/foldout/src/catalog/exposures/all.ts'
import type { CallResult, ToolContent } from '../../packages/foldout/src/catalog/tool.ts'
import { serveMcp, type ServedMcp } from '../../packages/foldout/src/entries/mcp.ts'
import { createHostFilesystem } from '../../packages/foldout/src/entries/node.ts'
import { readSkills } from '../../packages/foldout/src/entries/skills.ts'
import { definePrompt, defineSection } from '../../packages/foldout/src/entries/index.ts'
import { takeTurns } from '../../test/turns.ts'

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA='

const content =
  (...parts: readonly ToolContent[]) =>
  async (): Promise<CallResult> => ({ content: parts })
const image = { type: 'image', data: PIXEL, mimeType: 'image/png' }

/** The tools that the suite expects every server to have, under the suite's names. */
const catalog: Catalog = createCatalog([
  {
    name: 'test_simple_text',
    description: 'Answers with text.',
    call: content({ type: 'text', text: 'This is a simple text response for testing.' }),
  },
  { name: 'test_image_content', description: 'Answers with an image.', call: content(image) },
  {
    name: 'test_audio_content',
    description: 'Answers with audio.',
    call: content({ type: 'audio', data: SILENCE, mimeType: 'audio/wav' }),
  },
  {
    name: 'test_embedded_resource',
    description: 'Answers with a resource.',
    call: content({
      type: 'resource',
      resource: {
        uri: 'test://embedded-resource',
        mimeType: 'text/plain',
        text: 'This is an embedded resource content.',
      },
    }),
  },
  {
    name: 'test_multiple_content_types',
    description: 'Answers with several kinds of content.',
    call: content({ type: 'text', text: 'Multiple content types test:' }, image, {
      type: 'resource',
      resource: {
        uri: 'test://mixed-content-resource',
        mimeType: 'application/json',
        text: '{"test":"data","value":123}',
      },
    }),
  },
  {
    name: 'test_error_handling',
    description: 'Fails.',
    call: async () => ({
      content: [{ type: 'text', text: 'This tool intentionally returns an error for testing' }],
      isError: true,
    }),
  },
  {
    name: 'test_tool_with_progress',
    description: 'Reports progress.',
    async call(_args, { onProgress }) {
      for (const progress of [0, 50, 100]) {
        onProgress?.({ progress, total: 100, message: `Completed step ${progress} of 100` })
        if (progress < 100) await takeTurns()
      }
      return { content: [{ type: 'text', text: 'Done.' }] }
    },
  },
  {
    name: 'json_schema_2020_12_tool',
    description: 'Tool with JSON Schema 2020-12 features',
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: {
          $anchor: 'addressDef',
          type: 'object',
          properties: { street: { type: 'string' }, city: { type: 'string' } },
        },
      },
      properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      anyOf: [{ required: ['phone'] }, { required: ['email'] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    },
    call: content({ type: 'text', text: 'Done.' }),
  },
  {
    name: 'test_trigger_tool_change',
    description: 'Adds a tool, or takes it away again.',
    async call() {
      if (!catalog.remove('test_added')) catalog.add([{ name: 'test_added', description: 'Was added.' }])
      return { content: [{ type: 'text', text: 'Done.' }] }
    },
  },
])

const prompt = definePrompt({
  ns: 'conformance',
  key: 'test_simple_prompt',
  sections: [
    defineSection({ key: 'simple', title: 'Simple', template: 'This is a simple prompt for testing.' }),
    defineSection({
      key: 'folded',
      title: 'Folded',
      visibility: 'summary',
      summary: 'More.',
      template: 'All there is.',
    }),
  ],
}).bind()

export async function serveFixture(): Promise<ServedMcp> {
  const skills = await readSkills(createHostFilesystem(join(import.meta.dirname, 'skills')))
  return serveMcp(catalog, { name: 'foldout-conformance', version: '1.0.0', expose: all(), prompt, skills })
}
