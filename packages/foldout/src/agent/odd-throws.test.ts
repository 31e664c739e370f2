import { describe, expect, it } from 'vitest'
import {
  defineSection,
  getRunState,
  runAgent,
  type AgentOptions,
  type AnySection,
  type FoldoutError,
} from '../entries/index.ts'
import { calls, says, scriptedAdapter } from '../testing/scripted-adapter.ts'
import { getError, named, prepare, show } from './run.fixtures.ts'

function createRevoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

function createThenable(then: (resolve: (value: number) => void) => void): object {
  return new Proxy({}, { get: (_, key) => (key === 'then' ? then : undefined) })
}

const trap = (): never => {
  throw new Error('A trap.')
}
const ODD: readonly (readonly [name: string, make: () => unknown])[] = [
  ['nothing', () => undefined],
  ['an object without a prototype', () => Object.create(null) as unknown],
  ['a revoked proxy', createRevoked],
  ['a proxy whose traps throw', () => new Proxy(new Error('x'), { get: trap, has: trap, getPrototypeOf: trap })],
  ['an error whose message throws', () => Object.defineProperty(new Error('x'), 'message', { get: trap })],
  ['an error that has another state', () => Object.defineProperty(new Error('x'), 'state', { value: 1 })],
  ['a thenable that calls whatever it gets', () => createThenable((resolve) => resolve(1))],
  ['something that cannot become a text', () => ({ toString: trap })],
]
const raise = (make: () => unknown) => (): never => {
  throw make()
}

type Site = (make: () => unknown) => { readonly section?: object; readonly options?: Partial<AgentOptions> }
const folded = { summary: 'Some.', template: 'All.' }
const SITES: readonly (readonly [name: string, site: Site])[] = [
  ['stopWhen throws', (make) => ({ options: { stopWhen: raise(make) } })],
  [
    'evaluate throws',
    (make) => ({ options: { adapter: { name: 'x', model: 'x', supportsDynamicTools: true, evaluate: raise(make) } } }),
  ],
  ['a script throws', (make) => ({ options: { adapter: scriptedAdapter([{ throws: make() }]) } })],
  ['visibility throws', (make) => ({ section: { ...folded, visibility: raise(make) } })],
  ['visibility returns', (make) => ({ section: { ...folded, visibility: make } })],
  ['enabled throws', (make) => ({ section: { enabled: raise(make) } })],
  ['enabled returns', (make) => ({ section: { enabled: make } })],
  ['render throws', (make) => ({ section: { render: raise(make) } })],
  ['onEvent throws', (make) => ({ options: { onEvent: raise(make) } })],
  ['onEvent returns', (make) => ({ options: { onEvent: make } })],
  ['signal has as its reason', (make) => ({ options: { signal: AbortSignal.abort(make()) } })],
]

describe.each(SITES)('a run if %s', (_, site) => {
  it.each(ODD)('%s', async (__, make) => {
    const { section = {}, options = {} } = site(make)
    const odd: AnySection = defineSection({
      key: 'odd',
      title: 'Odd',
      ...('render' in section ? {} : { template: '' }),
      ...section,
    } as never)
    const { bound } = prepare([], { sections: [show('door', named('look')), odd] })
    const running = runAgent(bound, {
      adapter: scriptedAdapter([calls('look'), says('Done.')]),
      input: 'Go.',
      ...options,
    })
    const outcome = await running.then(
      ({ status }) => status,
      (error: unknown) => error,
    )
    if (outcome === 'completed') return
    // In every case, the caller gets a readable error with the state to continue from.
    expect(outcome).toBeInstanceOf(Error)
    expect(typeof (outcome as FoldoutError).message).toBe('string')
    expect(getRunState(outcome)).toMatchObject({ version: 1 })
  })
})

it('rejects a stopWhen that returns a thenable', async () => {
  const { run } = prepare([calls('look')], {
    sections: [show('door', named('look'))],
    stopWhen: (() => createThenable(() => undefined)) as never,
  })
  expect(await getError(run())).toMatchObject({ code: 'stop-when-async' })
})
