import { mkdtempSync, readFileSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { runAgent } from '../agent/loop/run-agent.ts'
import { definePrompt } from '../prompt/prompt.ts'
import { defineSection } from '../prompt/definition/section.ts'
import { calls, says, scriptedAdapter } from '../testing/scripted-adapter.ts'
import { recordRun, type RunLine } from './record-run.ts'
import { removeFolder } from '../../../../test/remove-folder.ts'

const folder = mkdtempSync(join(tmpdir(), 'foldout-record-'))
afterAll(() => removeFolder(folder))

const section = defineSection({
  key: 'guide',
  title: 'Guide',
  template: 'Be kind.',
  summary: 'How.',
  visibility: 'summary',
})
const bound = definePrompt({ ns: 'test', key: 'recorded', sections: [section] }).bind()
const createScript = () => scriptedAdapter([calls('read_section', { section_key: 'guide' }), says('Done.')])

describe('R59 recordRun', () => {
  it('writes the events of a run to a file, with texts, one line at a time', async () => {
    const file = join(folder, 'runs.jsonl')
    const recorder = recordRun({ to: file })
    for (const input of ['One.', 'Two.'])
      await runAgent(bound, { adapter: createScript(), input, onEvent: recorder.onEvent })
    await recorder.saved()
    const lines = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as RunLine)
    expect(new Set(lines.map(({ run }) => run)).size).toBe(2)
    const [started, rendered] = lines.map(({ event }) => event)
    expect(started).toMatchObject({ type: 'run/started', input: 'One.', model: { name: 'script' } })
    expect(rendered).toMatchObject({ type: 'prompt/rendered', prompt: 'test/recorded', text: bound.render().text })
    expect(lines.some(({ event }) => event.type === 'text/delta')).toBe(false)
    expect(statSync(file).size).toBeGreaterThan(1_000)
  })

  it('does not change a run when nothing can be written, and reports it through saved()', async () => {
    const recorder = recordRun({ to: folder })
    expect((await runAgent(bound, { adapter: createScript(), onEvent: recorder.onEvent })).text).toBe('Done.')
    await expect(recorder.saved()).rejects.toMatchObject({ code: 'recording-file' })
  })

  it('rejects an inspector on another machine', () => {
    expect(() => recordRun({ to: 'http://example.com/token/' })).toThrow(/not to 'example.com'/)
    expect(() => recordRun({ to: 'http://127.0.0.1.example.com/' })).toThrow(/on this machine/)
  })

  let server: Server | undefined
  afterEach(() => server?.close())
  const listen = (status: number, bodies: string[]): Promise<string> => {
    server = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk: Buffer) => (body += chunk.toString('utf8')))
      request.on('end', () => {
        bodies.push(`${request.url} ${body}`)
        response.writeHead(status).end()
      })
    })
    const listening = server
    return new Promise((resolve) => {
      listening.listen(0, '127.0.0.1', () => {
        resolve(`http://127.0.0.1:${(listening.address() as AddressInfo).port}/token/`)
      })
    })
  }

  it('sends to an inspector, in order', async () => {
    const bodies: string[] = []
    const recorder = recordRun({ to: await listen(200, bodies) })
    await runAgent(bound, { adapter: createScript(), input: 'One.', onEvent: recorder.onEvent })
    await recorder.saved()
    expect(bodies.every((body) => body.startsWith('/token/api/runs/record '))).toBe(true)
    const events = bodies.flatMap((body) => (JSON.parse(body.slice(body.indexOf('{'))) as { lines: RunLine[] }).lines)
    expect(events[0]?.event.type).toBe('run/started')
    expect(events.at(-1)?.event.type).toBe('run/finished')
  })

  it('reports that an inspector rejected the run or is gone', async () => {
    const refused = recordRun({ to: await listen(404, []) })
    await runAgent(bound, { adapter: createScript(), onEvent: refused.onEvent })
    await expect(refused.saved()).rejects.toThrow('answered with 404')
    const gone = recordRun({ to: 'http://127.0.0.1:9/token/' })
    await runAgent(bound, { adapter: createScript(), onEvent: gone.onEvent })
    await expect(gone.saved()).rejects.toMatchObject({ code: 'recording-file' })
  })
})
