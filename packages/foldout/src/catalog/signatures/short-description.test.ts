import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../../core/schema/schema.ts'
import { anySchema } from './schemas.fixtures.ts'
import { shortenDescription } from './short-description.ts'

const shortened = (description: string, name = 'some_tool'): string => shortenDescription({ name, description })

describe('R43 a short description of a tool', () => {
  it.each([
    ['the first sentence', 'Gets the weather. Needs a key.', 'Gets the weather'],
    ['a sentence with short forms', 'Reads files, e.g. images. Fast.', 'Reads files, e.g. images'],
    [
      'a sentence with dots in words',
      'Uses v1.2 of example.com for U.S. data. More.',
      'Uses v1.2 of example.com for U.S. data',
    ],
    ['lines', 'Gets\nthe   weather\n\nand more', 'Gets the weather'],
    ['markdown', '**Gets** the `weather` of [a city](https://x.y)', 'Gets the weather of a city'],
    ['a heading that repeats the name', '# Some tool\n\nGets the weather.', 'Gets the weather'],
    ['a heading that says something', '## Weather of today\n\nGets it.', 'Weather of today'],
    ['a list', '- Gets the weather\n- Sets it', 'Gets the weather'],
    ['code', '```js\nf()\n```\nRuns code.', 'Runs code'],
    ['tags', '<usecase>Gets the weather.</usecase><instructions>Call it</instructions>', 'Gets the weather'],
    ['placeholders that look like tags', 'Counts <query> in <range>', 'Counts <query> in <range>'],
    ['a heading that any tool has', '# Guardrails\n\n## Overview:\n\nCreates a branch.', 'Creates a branch'],
    ['a label', 'Purpose: creates a branch. Fast.', 'Creates a branch'],
    ['responses', 'Mail | Retrieve a page\nError Responses:\n400: bad request', 'Mail | Retrieve a page'],
    ['warnings', 'Deletes a branch. IMPORTANT: ask first', 'Deletes a branch'],
    ['what follows warnings', 'IMPORTANT: ALWAYS USE THIS TOOL FIRST\n\nFinds hotels.', 'Finds hotels'],
    ['words of headings', 'Overview of all branches', 'Overview of all branches'],
    ['signs', '🚀 Deploys the app', 'Deploys the app'],
    ['sections', 'Adds numbers Args: a: one b: two Returns: sum', 'Adds numbers'],
    ['its own name', 'some_tool: gets the weather', 'Gets the weather'],
    ['this tool', 'This tool allows you to search the web.', 'Search the web'],
    ['use this', 'Use this tool to search the web.', 'Search the web'],
    ['this endpoint', 'This endpoint will return the balance', 'Return the balance'],
    ['a tool that', 'A tool that counts words', 'Counts words'],
    ['what it is marked with', '[DEPRECATED] Gets the weather', '[DEPRECATED] Gets the weather'],
    ['another script', '获取天气预报。通过接口。', '获取天气预报'],
    ['a bracket never closed', 'Gets posts by number (with prefix, example: a:b)', 'Gets posts by number'],
  ])('R43 comes from %s', (_, description, expected) => {
    expect(shortened(description)).toBe(expected)
  })

  it('R43 is cut after a phrase, at most 80 characters long', () => {
    expect(
      shortened(
        'Retrieves a paginated list of users for an application, optionally including locale information of each.',
      ),
    ).toBe('Retrieves a paginated list of users for an application, optionally…')
    expect(
      shortened('Calculates the index (a number between zero and one hundred that says much) of a given trading pair'),
    ).toBe('Calculates the index of a given trading pair')
    expect(shortened('x'.repeat(300))).toBe(`X${'x'.repeat(78)}…`)
    expect(shortened('天'.repeat(300))).toBe(`${'天'.repeat(39)}…`)
  })

  const takes = (...fields: string[]): JsonSchema => ({
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field, {}])),
  })

  it.each([
    ['nothing', { name: 'get_userInfo2', inputSchema: takes('user_id') }, 'Get user Info2: user id'],
    ['an empty text', { name: 'list-items', description: ' \n', inputSchema: takes() }, 'List items'],
    ['a placeholder', { name: 'list_items', description: 'Description not available' }, 'List items'],
    [
      'a bare route',
      { name: 'ai_one', description: 'GET /ai.one', inputSchema: takes('a', 'b', 'c', 'd') },
      'Ai one: a, b, c',
    ],
    ['a bare route and one word', { name: 'one', description: 'GET /ai.one' }, 'One (GET /ai.one)'],
    ['a title', { name: 'x1', title: 'Weather of a city', inputSchema: takes('city') }, 'Weather of a city: city'],
    ['its own name', { name: 'list_items', description: 'List items' }, 'List items'],
  ])('R43 consists of title, name and parameters if there is %s', (_, tool, expected) => {
    expect(shortenDescription(tool)).toBe(expected)
  })

  it('R43 is one line of bounded length for any tool', () => {
    const line = fc.string({ unit: 'binary', maxLength: 300 })
    fc.assert(
      fc.property(line, fc.option(line, { nil: undefined }), anySchema, (name, text, inputSchema) => {
        const short = shortenDescription({ name, title: text, description: text, inputSchema })
        expect(short).not.toMatch(/[\n\r\u2028\u2029]/)
        expect(Array.from(short).length).toBeLessThanOrEqual(80)
      }),
      { numRuns: 500 },
    )
  })
})
