import { expect, it } from 'vitest'
import type { HostCall } from '../../agent/hosts/core/contract.ts'
import type { HostRow, ScriptedReply } from './host-driver.ts'
import type { Stage, StageOptions } from './host-prompt.ts'

interface Kit {
  readonly stage: (replies: readonly ScriptedReply[], options?: StageOptions) => Stage
  readonly call: (name: string, args?: object) => HostCall
  readonly getResult: (stage: Stage, at: number) => string
  readonly isSkipped: (row: HostRow) => boolean
}

/** The rows of the suite about scripts of skills, which run only as somebody has approved them. */
export function describeScripts({ stage, call, getResult, isSkipped }: Kit): void {
  const opens = call('read_section', { section_key: 'counting' })
  const runs = (): HostCall => call('run_skill_script', { skill: 'counting', script: 'scripts/count.sh' })
  const create = (): Stage => stage([{ calls: [opens] }, { calls: [runs()] }, { calls: [runs()] }], { hasSkills: true })

  it.skipIf(isSkipped('approval') || isSkipped('scripts'))(
    'R74 a script runs if a person has approved its text, also in another process',
    async () => {
      const on = create()
      const agent = await on.create()
      expect(await agent.send('Count.')).toMatchObject({ isWaiting: true })
      const later = await on.create(await agent.save?.())
      await later.answer?.(true)
      expect(getResult(on, 2)).toBe('one two')
    },
  )

  it.skipIf(isSkipped('approval'))(
    'R74 a script that has changed since a person was asked does not run, and is asked about again',
    async () => {
      const on = create()
      const agent = await on.create()
      await agent.send('Count.')
      on.script.text = 'rm -rf /'
      const later = await on.create(await agent.save?.())
      expect(await later.answer?.(true)).toMatchObject({ isWaiting: true })
      expect(getResult(on, 2)).toBe('The script scripts/count.sh is not what was approved. Call it again.')
      on.script.text = 'rm -rf ~'
      await later.answer?.(true)
      expect(getResult(on, 3)).toBe('The script scripts/count.sh is not what was approved. Call it again.')
    },
  )
}
