import { describe, expect, it } from 'vitest'
import { defineEvent } from '../session/event.ts'
import { defineLog } from '../session/log.ts'
import { createSession } from '../session/session.ts'
import { defineSlice } from '../session/slice.ts'
import { executeTool } from './execute.ts'
import { fileTools } from './files/file-tools.ts'
import type { Filesystem } from '../files/filesystem.ts'
import { createMemoryFilesystem } from '../files/memory-filesystem.ts'
import { fail, ok, type ToolResult } from './result.ts'
import { defineTool, type ToolContext } from './tool.ts'

const cart = defineSlice({
  name: 'cart',
  initial: [] as readonly string[],
  reducers: { added: (state, item: string) => [...state, item] },
})
const noted = defineEvent<string>()('test/noted')
const notes = defineLog({ name: 'notes', of: [noted] })

function createContext(filesystem: Filesystem = createMemoryFilesystem({ 'kept.txt': 'as it was' })) {
  return {
    session: createSession({ slices: [cart, notes] }),
    signal: new AbortController().signal,
    deadline: undefined,
    filesystem,
    prompt: undefined,
  } satisfies ToolContext
}

/** A tool that changes everything it can reach, under the name of an item, and then ends as requested. */
function changing(item: string, end: (context: ToolContext) => ToolResult | Promise<ToolResult>) {
  return defineTool({
    name: `change_${item}`,
    description: 'Changes state, log and files.',
    async execute(_, context) {
      context.session.dispatch(cart.events.added(item))
      context.session.dispatch(noted(item))
      await context.filesystem!.write(`${item}/new.txt`, item)
      return end(context)
    },
  })
}

/** The contents of the session and the files. */
async function getState({ session, filesystem }: ReturnType<typeof createContext>) {
  return {
    cart: session.get(cart),
    notes: [...session.get(notes)].map((note) => note.payload),
    files: (await filesystem.list('')).map((entry) => entry.path),
  }
}

/** A promise and the function that fulfills it. */
function gate(): { readonly passed: Promise<void>; open(): void } {
  let open = (): void => undefined
  const passed = new Promise<void>((resolve) => (open = resolve))
  return { passed, open: () => open() }
}

describe('executeTool', () => {
  it('R20 commits session and files when a tool succeeds', async () => {
    const context = createContext()
    const heard: string[] = []
    context.session.subscribe((event) => heard.push(event.type))
    const tool = changing('a', async ({ session, filesystem }) => {
      // Its own changes are visible inside the call, but not outside yet.
      expect(session.get(cart)).toEqual(['a'])
      expect(await filesystem!.read('a/new.txt')).toBe('a')
      expect(await getState(context)).toEqual({ cart: [], notes: [], files: ['kept.txt'] })
      expect(heard).toEqual([])
      return ok('Done.', 1)
    })
    expect(await executeTool(tool, {}, context)).toEqual({ ok: true, message: 'Done.', value: 1 })
    expect(await getState(context)).toEqual({ cart: ['a'], notes: ['a'], files: ['a', 'kept.txt'] })
    expect(heard).toEqual(['cart/added', 'test/noted'])
  })

  it.each([
    ['fails', () => fail('No.'), 'No.'],
    ['throws', () => Promise.reject(new Error('broken')), "Tool 'change_a' failed: broken"],
    ['throws what is not an error', () => Promise.reject('text'), "Tool 'change_a' failed: text"],
    [
      'returns no result',
      () => 'text' as unknown as ToolResult,
      "Tool 'change_a' failed: it did not return a result. Its execute() must return ok(…) or fail(…).",
    ],
  ] satisfies [string, () => ToolResult | Promise<ToolResult>, string][])(
    'R20 R24 restores state and files, and keeps log entries, when a tool %s',
    async (_, end, message) => {
      const context = createContext()
      const tool = changing('a', async ({ filesystem }) => {
        await filesystem!.write('kept.txt', 'overwritten')
        await filesystem!.remove('kept.txt')
        return end()
      })
      const before = context.session.get(cart)
      expect(await executeTool(tool, {}, context)).toEqual({ ok: false, message })
      expect(await getState(context)).toEqual({ cart: [], notes: ['a'], files: ['kept.txt'] })
      expect(context.session.get(cart)).toBe(before)
      expect(await context.filesystem.read('kept.txt')).toBe('as it was')
    },
  )

  it('R20 runs nothing, and so changes nothing, on wrong arguments', async () => {
    const context = createContext()
    const tool = defineTool({
      name: 'add',
      description: 'Adds.',
      params: { type: 'object', properties: { item: { type: 'string' } }, required: ['item'] },
      execute(params, { session }) {
        session.dispatch(noted(String(params['item'])))
        return ok('Added.')
      },
    })
    expect((await executeTool(tool, { item: 1 }, context)).ok).toBe(false)
    expect(await getState(context)).toEqual({ cart: [], notes: [], files: ['kept.txt'] })
  })

  it.each([
    ['the first ends first', ['a', 'b']],
    ['the second ends first', ['b', 'a']],
  ])('R20 applies two concurrent tools: %s', async (_, order) => {
    const context = createContext()
    const gates = { a: gate(), b: gate() }
    const run = (item: 'a' | 'b') =>
      executeTool(
        changing(item, async ({ session, filesystem }) => {
          await gates[item].passed
          session.dispatch(cart.events.added(`${item} again`))
          await filesystem!.write(`${item}/more.txt`, item)
          return ok('Done.')
        }),
        {},
        context,
      )
    const running = { a: run('a'), b: run('b') }
    for (const item of order as ('a' | 'b')[]) {
      gates[item].open()
      await running[item]
    }
    const [first, second] = order as [string, string]
    expect(await getState(context)).toEqual({
      cart: [first, `${first} again`, second, `${second} again`],
      notes: order,
      files: ['a', 'b', 'kept.txt'],
    })
    for (const item of order) {
      expect((await context.filesystem.list(item)).map((entry) => entry.path)).toEqual([
        `${item}/more.txt`,
        `${item}/new.txt`,
      ])
    }
  })

  it.each(['the failing one ends first', 'the failing one ends last'])(
    'R20 R24 undoes only the failing one of two concurrent tools: %s',
    async (order) => {
      const context = createContext()
      const success = gate()
      const failure = gate()
      const succeeding = executeTool(
        changing('good', async () => {
          await success.passed
          return ok('Done.')
        }),
        {},
        context,
      )
      const failing = executeTool(
        changing('bad', async ({ filesystem }) => {
          await filesystem!.remove('kept.txt')
          await failure.passed
          throw new Error('broken')
        }),
        {},
        context,
      )
      const ends = [
        { open: failure.open, call: failing },
        { open: success.open, call: succeeding },
      ]
      for (const { open, call } of order.endsWith('first') ? ends : ends.toReversed()) {
        open()
        await call
      }
      const { cart, files, notes } = await getState(context)
      expect(cart).toEqual(['good'])
      expect(files).toEqual(['good', 'kept.txt'])
      expect(notes.toSorted()).toEqual(['bad', 'good'])
    },
  )

  it('R20 R24 undoes a nested tool with the failing tool around it', async () => {
    const context = createContext()
    const outer = changing('outer', async (inside) => {
      const result = await executeTool(
        changing('inner', () => ok('Done.')),
        {},
        inside,
      )
      expect(result.ok).toBe(true)
      expect(await inside.filesystem!.read('inner/new.txt')).toBe('inner')
      expect(inside.session.get(cart)).toEqual(['outer', 'inner'])
      return fail('No.')
    })
    await executeTool(outer, {}, context)
    expect(await getState(context)).toEqual({ cart: [], notes: ['outer', 'inner'], files: ['kept.txt'] })
  })

  it('R20 continues when a nested tool fails, without its changes', async () => {
    const context = createContext()
    const outer = changing('outer', async (inside) => {
      await executeTool(
        changing('inner', () => fail('No.')),
        {},
        inside,
      )
      return ok('Done.')
    })
    await executeTool(outer, {}, context)
    expect(await getState(context)).toEqual({
      cart: ['outer'],
      notes: ['outer', 'inner'],
      files: ['kept.txt', 'outer'],
    })
  })

  it('R20 rejects changes by a tool after its call has ended', async () => {
    const context = createContext()
    const late = gate()
    let finished: Promise<void> | undefined
    const tool = changing('a', ({ filesystem, session }) => {
      finished = (async () => {
        await late.passed
        expect(() => session.dispatch(cart.events.added('late'))).toThrow('This transaction was already abandoned')
        await expect(filesystem!.write('late.txt', '')).rejects.toThrow('This transaction was already abandoned')
      })()
      return fail('Too slow.')
    })
    await executeTool(tool, {}, context)
    late.open()
    await finished
    expect(await getState(context)).toEqual({ cart: [], notes: ['a'], files: ['kept.txt'] })
  })

  it('R20 undoes the later of two concurrent changes to one file, and tells the model', async () => {
    const context = createContext(createMemoryFilesystem({ 'f.txt': 'one two' }))
    const edit = fileTools().find((tool) => tool.name === 'edit_file')!
    const results = await Promise.all([
      executeTool(edit, { path: 'f.txt', old_text: 'one', new_text: '1' }, context),
      executeTool(edit, { path: 'f.txt', old_text: 'two', new_text: '2' }, context),
    ])
    expect(results.map((result) => result.message)).toEqual([
      "Edited 'f.txt': replaced 1 occurrence.",
      "Tool 'edit_file' failed: 'f.txt' was changed by another call at the same time, so this change was not made. Read it again and repeat the change.",
    ])
    expect(await context.filesystem.read('f.txt')).toBe('1 two')
  })
})

describe('R37 the return value of a tool', () => {
  const bytes = new Uint8Array([1, 2])
  it.each<[string, object, string]>([
    ['pictures as bytes', { images: [{ mimeType: 'image/png', data: bytes }] }, 'its images are not a list of'],
    ['pictures without a type', { images: [{ data: 'AAAA' }] }, 'its images are not a list of'],
    ['nothing as a picture', { images: [null] }, 'its images are not a list of'],
    ['a text as pictures', { images: 'AAAA' }, 'its images are not a list of'],
    ['an opening without lists', { opening: { keys: 'a' } }, 'its opening does not have the lists'],
    ['an opening of numbers', { opening: { keys: [1], paths: [], tools: [] } }, 'its opening does not have the lists'],
  ])('becomes a readable failure if it has %s, and nothing changes', async (_, odd, message) => {
    const context = createContext()
    const tool = changing('odd', () => ({ ...ok('Done.'), ...odd }))
    const result = await executeTool(tool, {}, context)
    expect(result).toMatchObject({ ok: false, message: expect.stringContaining(message) as string })
    expect(context.session.get(cart)).toEqual([])
  })

  it('becomes a readable failure if the signal aborts with an unreadable reason', async () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    const controller = new AbortController()
    const waiting = defineTool({
      name: 'wait',
      description: 'Waits.',
      execute: () => new Promise<ToolResult>(() => {}),
    })
    const ended = executeTool(waiting, {}, { ...createContext(), signal: controller.signal })
    revoke()
    controller.abort(proxy)
    expect(await ended).toEqual(fail("Tool 'wait' was cancelled."))
  })
})
