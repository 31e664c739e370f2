import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCatalog } from 'foldout/catalog'
import { createMemoryFilesystem } from 'foldout/files'
import { connectToMcp, createHttpTransport, serveMcp, skillsFromMcp } from 'foldout/mcp'
import { readSkills } from 'foldout/skills'
import { afterEach, describe, expect, it } from 'vitest'
import { createGateway } from '../../gateway.ts'

const open: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close()
})

async function serve(name: string, names: readonly string[]): Promise<string> {
  const files = Object.fromEntries(
    names.flatMap((skill) => [
      [`${skill}/SKILL.md`, `---\nname: ${skill}\ndescription: ${skill} of ${name}.\n---\nAs ${name} does it.\n`],
      [`${skill}/references/MORE.md`, `More of ${name}.\n`],
    ]),
  )
  const skills = await readSkills(createMemoryFilesystem(files))
  const served = serveMcp(createCatalog([]), { name, version: '1.0.0', skills })
  open.push(served)
  return (await served.http()).url
}

async function connect(urls: Readonly<Record<string, string>>, era: 'legacy' | 'modern') {
  const cache = mkdtempSync(join(tmpdir(), 'foldout-skills-'))
  const mcpServers = Object.fromEntries(Object.entries(urls).map(([name, url]) => [name, { url, required: true }]))
  const gateway = await createGateway({ mcpServers }, { cache })
  const { url } = await gateway.http()
  const session = await connectToMcp(createHttpTransport(url), { name: 'test', version: '1', era })
  open.push({ close: async () => rmSync(cache, { recursive: true, force: true }) }, gateway, session)
  return session
}

describe.each(['legacy', 'modern'] as const)('R76 the gateway, %s', (era) => {
  it('R76 serves the skills of its servers as they are, each under a URI of its own', async () => {
    const [one, two] = [await serve('one', ['pdf', 'notes']), await serve('two', ['pdf'])]
    const session = await connect({ one, two }, era)
    expect(session.server.capabilities['extensions']).toEqual({
      'io.modelcontextprotocol/skills': { directoryRead: true },
    })
    const skills = await skillsFromMcp(session)
    // The names are the servers' own; a client distinguishes them.
    expect(skills.map(({ path }) => path)).toEqual(['skill://notes', 'skill://pdf'])
    const { skills: all } = (await session.request('skills/list')) as {
      readonly skills: readonly { readonly uri: string }[]
    }
    const uris = all.map(({ uri }) => uri)
    expect(uris).toEqual(['skill://notes/SKILL.md', 'skill://pdf/SKILL.md', 'foldout://two/skill://pdf/SKILL.md'])
    expect((await skills[1]?.load?.())?.body).toBe('As one does it.')
    expect(new TextDecoder().decode(await skills[1]?.files[0]?.read())).toBe('More of one.\n')
    const read = await session.request('resources/read', { uri: 'foldout://two/skill://pdf/references/MORE.md' })
    expect(read).toMatchObject({
      contents: [{ uri: 'foldout://two/skill://pdf/references/MORE.md', text: 'More of two.\n' }],
    })
    for (const uri of uris) expect(await session.request('skills/get', { uri })).toMatchObject({ skill: { uri } })
    for (const folder of ['skill://pdf', 'foldout://two/skill://pdf'])
      expect(await session.request('resources/directory/read', { uri: folder })).toMatchObject({
        resources: [{ uri: `${folder}/SKILL.md` }, { uri: `${folder}/references`, mimeType: 'inode/directory' }],
      })
    await expect(session.request('skills/get', { uri: 'skill://none/SKILL.md' })).rejects.toMatchObject({
      code: -32_602,
    })
  })

  it('R76 finds a skill that nobody has listed yet', async () => {
    const session = await connect({ one: await serve('one', ['notes']), two: await serve('two', ['pdf']) }, era)
    const read = await session.request('resources/read', { uri: 'skill://pdf/references/MORE.md' })
    expect(read).toMatchObject({ contents: [{ text: 'More of two.\n' }] })
  })
})

describe('R76 the gateway', () => {
  it('R76 declares no skills if no server has some', async () => {
    const served = serveMcp(createCatalog([]), { name: 'plain', version: '1.0.0' })
    open.push(served)
    const session = await connect({ plain: (await served.http()).url }, 'modern')
    expect(session.server.capabilities['extensions']).toBeUndefined()
    await expect(session.request('skills/list')).rejects.toMatchObject({ code: -32_601 })
  })
})
