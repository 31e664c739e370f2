import { setImmediate as nextTick } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { createSession, definePrompt, runAgent, type Session } from '../entries/index.ts'
import { says, scriptedAdapter } from '../testing/scripted-adapter.ts'
import { named, show } from './run.fixtures.ts'

it('R14 a bound prompt keeps the session of its last render in memory, and none before it', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const bound = definePrompt({ ns: 't', key: 't', sections: [show('desk', named('work'))] }).bind()
  const sessions: WeakRef<Session>[] = []
  for (let i = 0; i < 20; i++) {
    const session = createSession()
    sessions.push(new WeakRef(session))
    await runAgent(bound, { adapter: scriptedAdapter([says('Done.')]), session, input: 'Go.' })
  }
  await nextTick()
  collectGarbage()
  expect(sessions.filter((session) => session.deref() !== undefined).length).toBeLessThan(5)
})
