import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  defineSlice,
  defineTool,
  fail,
  ok,
  runAgent,
  type AgentEvent,
  type AgentOptions,
  type AnyTool,
} from '../entries/index.ts'
import { catalogSection, createCatalog, hybrid } from '../entries/catalog.ts'
import { calls, says, scriptedAdapter } from '../testing/scripted-adapter.ts'
import { prepare, show } from './run.fixtures.ts'

const MISTAKE =
  "Tool 'look' failed because of a mistake in its program, not because of your arguments. Calling it again will not help. Continue without it, or say that it does not work."

function throwing(make: () => unknown): AnyTool {
  return defineTool({
    name: 'look',
    description: 'Looks.',
    execute: () => {
      throw make()
    },
  })
}

async function run(tool: AnyTool, options: Partial<AgentOptions> = {}) {
  const {
    run: start,
    events,
    getResults,
  } = prepare([calls('look'), says('Done.')], {
    sections: [show('door', tool)],
    ...options,
  })
  const { status } = await start()
  const threw = events.filter((event) => event.type === 'tool/threw')
  return { status, text: getResults()[0], threw }
}

afterEach(() => vi.unstubAllEnvs())

describe('R37 a tool that throws', () => {
  it.each([
    ['No order 17.', 'No order 17.'],
    ['connect ECONNREFUSED postgres://shop:hunter2@db:5432/shop', 'connect ECONNREFUSED postgres://***@db:5432/shop'],
    ['401: Bearer abc.def-ghi12345 was refused', '401: Bearer *** was refused'],
    ['GET /x?page=2&token=abcdef123&sort=up failed', 'GET /x?page=2&token=***&sort=up failed'],
    ['{"apiKey": "12345678", "user": "ada"}', '{"apiKey": "***", "user": "ada"}'],
    ['x-api-key: s3cr3t-value', 'x-api-key: ***'],
    ['Invalid key sk-proj-abcdefghijklmnop', 'Invalid key ***'],
    ['ghp_abcdefghijklmnop1234 has expired', '*** has expired'],
    ['AKIAABCDEFGHIJKLMNOP', '***'],
    ['token eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl', 'token ***'],
    ['-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----', '***'],
    ['Unexpected token } in JSON at position 5', 'Unexpected token } in JSON at position 5'],
    ['The password is too short', 'The password is too short'],
    ['fetch failed', 'fetch failed'],
  ])('tells the model %j as %j', async (message, shown) => {
    const { text, threw } = await run(throwing(() => new Error(message)))
    expect(text).toBe(`Tool 'look' failed: ${shown}`)
    expect(threw).toMatchObject([{ callId: 'call-1-1', name: 'look', errorType: 'Error', message, isMistake: false }])
  })

  it('hides the values of variables that are named like secrets', async () => {
    vi.stubEnv('SHOP_API_KEY', 'quite plain words')
    const { text } = await run(throwing(() => new Error('Refused: quite plain words.')))
    expect(text).toBe("Tool 'look' failed: Refused: ***.")
  })

  it('reads a message of four million characters quickly', async () => {
    for (const part of ['a:', 'token=', 'x://', '-----BEGIN A PRIVATE KEY-----', 'eyJ', 'bearer '])
      expect((await run(throwing(() => new Error(part.repeat(1_000_000))))).text?.length).toBeLessThan(40_000)
  })

  const missing = defineSlice({ name: 'missing', initial: 0, reducers: {} })
  it.each<[string, AnyTool]>([
    ['a variable that is not defined', throwing(() => new ReferenceError('ordr is not defined'))],
    ['a missing value', throwing(() => (undefined as unknown as { a: object }).a)],
    ['a call of what is no function', throwing(() => (5 as unknown as () => void)())],
    [
      'a recursion without end',
      throwing(function again(): unknown {
        return again()
      }),
    ],
    [
      'a session without the slice of the tool',
      defineTool({
        name: 'look',
        description: 'Looks.',
        execute: (_, { session }) => ok(String(session.get(missing))),
      }),
    ],
  ])('tells the model only that there is a mistake: %s', async (_, tool) => {
    const { text, threw, status } = await run(tool)
    expect({ text, status }).toEqual({ text: MISTAKE, status: 'completed' })
    expect(threw).toMatchObject([{ isMistake: true }])
    expect(threw[0]?.type === 'tool/threw' && threw[0].message).not.toBe('')
  })

  it.each([new TypeError('fetch failed'), new TypeError('Invalid URL'), new RangeError('Invalid time value')])(
    'is no mistake of the program if arguments or a network may be the cause: %s',
    async (error) => {
      expect((await run(throwing(() => error))).threw).toMatchObject([{ isMistake: false }])
    },
  )

  it('lets onToolError choose the words, and ignores what it throws', async () => {
    const error = new Error('Secret.')
    const seen: unknown[] = []
    const told = await run(
      throwing(() => error),
      {
        onToolError: (thrown) => {
          seen.push(thrown)
          return 'The shop is closed.'
        },
      },
    )
    expect(told.text).toBe('The shop is closed.')
    expect(seen).toEqual([{ tool: 'look', callId: 'call-1-1', error, isMistake: false }])
    const odd = {
      onToolError: () => {
        throw new Error('Again.')
      },
    }
    expect(
      (
        await run(
          throwing(() => error),
          odd,
        )
      ).text,
    ).toBe("Tool 'look' failed: Secret.")
    expect(
      (
        await run(
          throwing(() => error),
          { onToolError: () => 5 as never },
        )
      ).text,
    ).toBe("Tool 'look' failed: Secret.")
  })

  it('stands out from a tool that reports a failure', async () => {
    const tool = defineTool({ name: 'look', description: 'Looks.', execute: () => fail('password=hunter2') })
    expect(await run(tool)).toMatchObject({ text: 'password=hunter2', threw: [] })
  })

  it('stands out also behind a tool of a catalog', async () => {
    const raw = {
      name: 'raw',
      description: 'Raw.',
      inputSchema: { type: 'object' },
      call: () => Promise.reject(new ReferenceError('x is not defined')),
    }
    const catalog = createCatalog([throwing(() => new Error('Bearer abcdefgh1234')), raw])
    const section = catalogSection(catalog, { expose: hybrid() })
    const events: AgentEvent[] = []
    const adapter = scriptedAdapter([
      calls('use_tool', { name: 'look', arguments: {} }),
      calls('use_tool', { name: 'raw', arguments: {} }),
      says('Done.'),
    ])
    const { bound } = prepare([], { sections: [section] })
    const { messages } = await runAgent(bound, { adapter, input: 'Go.', onEvent: (event) => events.push(event) })
    expect(events.filter(({ type }) => type === 'tool/threw')).toMatchObject([
      { name: 'look', callId: 'call-1-1', message: 'Bearer abcdefgh1234', isMistake: false },
      { name: 'raw', isMistake: true },
    ])
    expect(JSON.stringify(messages)).not.toContain('abcdefgh1234')
  })

  it('counts as one if its needsApproval throws, or if it returns no result', async () => {
    const asking = defineTool({
      name: 'look',
      description: 'Looks.',
      needsApproval: () => {
        throw new ReferenceError('rules is not defined')
      },
      execute: () => ok('Seen.'),
    })
    expect(await run(asking)).toMatchObject({ text: MISTAKE, threw: [{ isMistake: true }] })
    const silent = defineTool({ name: 'look', description: 'Looks.', execute: () => undefined as never })
    expect(await run(silent)).toMatchObject({
      text: "Tool 'look' failed: it did not return a result. Its execute() must return ok(…) or fail(…).",
      threw: [{ isMistake: true }],
    })
  })
})
