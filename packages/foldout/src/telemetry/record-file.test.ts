import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createRecorder } from './recorder.ts'
import { runShop, shop } from './shop.fixtures.ts'
import { calls, says } from '../testing/scripted-adapter.ts'
import { readRecordingFile, createFileRecorder } from './record-file.ts'

// Two runs are compared, and a run's state says when the model replied.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: 0 }))
afterEach(() => void vi.useRealTimers())

const script = [calls('read_section', { section_key: 'cart' }), calls('add'), says('Done.')]
let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'foldout-recordings-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

describe('recordings in a file', () => {
  it('R40 have one line for each finished run, and are read back unchanged', async () => {
    const path = join(folder, 'deep', 'runs.jsonl')
    const bound = shop()
    const inMemory = createRecorder({ prompt: bound })
    const inFile = createFileRecorder(path, { prompt: bound })
    const onEvent: typeof inFile.onEvent = (event) => {
      inMemory.onEvent(event)
      inFile.onEvent(event)
    }
    await runShop(script, { bound, onEvent })
    expect(await readRecordingFile(path)).toEqual([inMemory.recording()])
    await runShop([{ throws: new Error('down') }], { bound, onEvent }).catch(() => undefined)
    await inFile.saved()
    expect((await readRecordingFile(path)).flatMap(({ runs }) => runs)).toEqual(inMemory.recording().runs)
    expect((await readFile(path, 'utf8')).split('\n')).toHaveLength(3)
  })

  it('R40 do not mix lines when recorders write concurrently', async () => {
    const path = join(folder, 'runs.jsonl')
    await Promise.all(
      Array.from({ length: 10 }, () => {
        const bound = shop()
        return runShop(script, { bound, onEvent: createFileRecorder(path, { prompt: bound }).onEvent })
      }),
    )
    const recordings = await readRecordingFile(path)
    expect(recordings).toHaveLength(10)
    for (const recording of recordings) expect(recording).toEqual(recordings[0])
  })

  it('R40 are rejected with file and line if a line is malformed', async () => {
    const path = join(folder, 'runs.jsonl')
    const bound = shop()
    await runShop(script, { bound, onEvent: createFileRecorder(path, { prompt: bound }).onEvent })
    await appendFile(path, '\n{"version":1,"runs":[{}]}\n')
    await expect(readRecordingFile(path)).rejects.toMatchObject({
      code: 'recording-file',
      message: `Line 3 of '${path}' cannot be read. This is not a recording of version 1: runs[0].prompt is required. Record the runs again with this version of Foldout. To read the other lines, remove this one.`,
    })
    await writeFile(path, 'no json\n')
    const reading = readRecordingFile(path)
    await expect(reading).rejects.toThrow(`Line 1 of '${path}' cannot be read. It is not valid JSON: Unexpected token`)
    await expect(reading).rejects.toThrow(/[^.]\. To read the other lines, remove this one\.$/)
    await expect(readRecordingFile(join(folder, 'none'))).rejects.toMatchObject({ code: 'recording-file' })
  })

  it('R40 keep the next line intact after a killed process left half a line', async () => {
    const path = join(folder, 'runs.jsonl')
    const bound = shop()
    await writeFile(path, '{"version":1,"ru')
    await runShop(script, { bound, onEvent: createFileRecorder(path, { prompt: bound }).onEvent })
    await expect(readRecordingFile(path)).rejects.toThrow(`Line 1 of '${path}'`)
    const lines = (await readFile(path, 'utf8')).split('\n')
    await writeFile(path, lines.slice(1).join('\n'))
    expect(await readRecordingFile(path)).toHaveLength(1)
  })

  it('R40 report an unwritable file without changing the run', async () => {
    const bound = shop()
    const plain = await runShop(script, { bound })
    const recorder = createFileRecorder(folder, { prompt: bound })
    expect(await runShop(script, { bound: shop(), onEvent: recorder.onEvent })).toEqual(plain)
    await expect(recorder.saved()).rejects.toMatchObject({
      code: 'recording-file',
      message: expect.stringContaining(`A run could not be recorded in '${folder}': EISDIR`),
    })
  })
})
