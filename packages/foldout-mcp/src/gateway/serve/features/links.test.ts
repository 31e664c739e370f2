import { describe, expect, it } from 'vitest'
import { nameResources, renameInContents, renameInPrompt, renameInResult } from './links.ts'

const rename = (uri: string): string => (uri.startsWith('mem:') ? `foldout://two/${uri}` : uri)

describe('the URIs of a result', () => {
  it('become those that clients use', () => {
    const result = {
      content: [
        { type: 'text', text: 'mem://note', uri: 'mem://note' },
        { type: 'resource_link', uri: 'mem://note', name: 'note' },
        { type: 'resource', resource: { uri: 'mem://row/7', text: 'seven' } },
        { type: 'resource' },
      ],
      structuredContent: { uri: 'mem://note' },
    }
    expect(renameInResult(result, rename)).toEqual({
      content: [
        { type: 'text', text: 'mem://note', uri: 'mem://note' },
        { type: 'resource_link', uri: 'foldout://two/mem://note', name: 'note' },
        { type: 'resource', resource: { uri: 'foldout://two/mem://row/7', text: 'seven' } },
        { type: 'resource' },
      ],
      structuredContent: { uri: 'mem://note' },
    })
  })

  it('leave the result alone if they are the same', async () => {
    const result = { content: [{ type: 'resource_link', uri: 'other://note', name: 'note' }] }
    expect(renameInResult(result, rename)).toBe(result)
    const tool = nameResources({ name: 'link', call: async () => result }, rename)
    expect(await tool.call?.({}, {})).toBe(result)
  })

  it('become those that clients use in prompts and resources, too', () => {
    const link = { type: 'resource_link', uri: 'mem://note' }
    const seen = { type: 'resource_link', uri: 'foldout://two/mem://note' }
    const messages = [{ role: 'user', content: link }, { role: 'user', content: [link] }, { role: 'user' }]
    expect(renameInPrompt({ messages }, rename)).toEqual({
      messages: [{ role: 'user', content: seen }, { role: 'user', content: [seen] }, { role: 'user' }],
    })
    expect(renameInContents({ contents: [{ uri: 'mem://note', text: 'n' }, 7] }, rename)).toEqual({
      contents: [{ uri: 'foldout://two/mem://note', text: 'n' }, 7],
    })
  })
})
