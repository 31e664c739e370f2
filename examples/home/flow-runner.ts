// Runs flows: when something happens, if the conditions hold, do the actions.
import { spoken } from './capabilities.ts'
import { clockText, isWeekday } from './clock.ts'
import { canSet } from './device-hub.ts'
import {
  HomeError,
  type Action,
  type Change,
  type Condition,
  type Device,
  type DeviceClass,
  type Flow,
  type FlowRun,
  type Trigger,
  type Value,
} from './model.ts'

/** What flows may do to the home. */
export interface FlowStage {
  now(): number
  flows(): Iterable<Flow>
  device(id: string): Device | undefined
  /** The devices in a zone and in the zones within it. */
  devicesIn(zone: string): readonly Device[]
  set(changes: readonly Change[]): void
  notify(text: string): void
}

export interface FlowRunner {
  /** Runs the flow's actions, regardless of its triggers. */
  start(flow: Flow, options: { readonly cause: string; readonly text: string }): FlowRun
  onChange(change: Change, before: Value): void
  onTime(at: number): void
  /** The latest runs, oldest first. */
  runs(): readonly FlowRun[]
}

/** Flows that trigger each other must not do so forever. */
const deepest = 8
const keptRuns = 1000

export function createFlowRunner(stage: FlowStage): FlowRunner {
  const runs: FlowRun[] = []
  let depth = 0

  function start(flow: Flow, cause: string, text: string): FlowRun {
    if (depth >= deepest) {
      return record({
        flow: flow.id,
        at: stage.now(),
        cause,
        unmet: 'not too many flows starting each other',
        done: [],
      })
    }
    depth += 1
    try {
      const unmet = flow.conditions.find((condition) => !holds(condition))
      return record({
        flow: flow.id,
        at: stage.now(),
        cause,
        unmet: unmet && conditionText(unmet),
        done: unmet ? [] : flow.actions.map((action) => act(action, text)),
      })
    } finally {
      depth -= 1
    }
  }

  function record(run: FlowRun): FlowRun {
    runs.push(run)
    if (runs.length > keptRuns) runs.shift()
    return run
  }

  function holds({ device, capability, is, value }: Condition): boolean {
    const current = stage.device(device)?.state[capability]
    if (is === 'equal') return current === value
    return is === 'above' ? Number(current) > Number(value) : Number(current) < Number(value)
  }

  function act(action: Action, text: string): string {
    try {
      return perform(action, text)
    } catch (error) {
      // An unreachable device must not stop the rest of a flow.
      if (error instanceof HomeError) return `skipped: ${error.message}`
      throw error
    }
  }

  function perform(action: Action, text: string): string {
    if (action.type === 'notify') {
      const said = action.text.replaceAll('{text}', text)
      stage.notify(said)
      return `notify "${said}"`
    }
    if (action.type === 'start') {
      const other = [...stage.flows()].find(({ id }) => id === action.flow)
      if (!other?.enabled) throw new HomeError(`flow ${action.flow} is missing or disabled.`)
      start(other, 'another flow', text)
      return actionText(action)
    }
    if (action.type === 'set') {
      stage.set([action])
      return actionText(action)
    }
    const { zone, capability, value } = action
    const targets = stage.devicesIn(zone).filter((device) => isTarget(device, action.class, capability))
    stage.set(targets.map(({ id }) => ({ device: id, capability, value })))
    return `${actionText(action)} (${targets.length} of them)`
  }

  function startMatching(cause: (flow: Flow) => string | undefined): void {
    for (const flow of stage.flows()) {
      const why = flow.enabled ? cause(flow) : undefined
      if (why) start(flow, why, '')
    }
  }

  return {
    start: (flow, { cause, text }) => start(flow, cause, text),
    onChange(change, before) {
      startMatching(({ triggers }) => {
        const trigger = triggers.find((one) => isPulled(one, change, before))
        return trigger && triggerText(trigger)
      })
    },
    onTime(at) {
      const clock = clockText(at)
      startMatching(({ triggers }) => {
        const trigger = triggers.find(
          (one) => one.type === 'time' && one.at === clock && (!one.weekdays || isWeekday(at)),
        )
        return trigger && triggerText(trigger)
      })
    },
    runs: () => [...runs],
  }
}

function isPulled(trigger: Trigger, { device, capability, value }: Change, before: Value): boolean {
  if (trigger.type === 'time' || trigger.device !== device || trigger.capability !== capability) return false
  if (trigger.type === 'becomes') return value === trigger.value
  const { threshold, direction } = trigger
  return direction === 'above'
    ? Number(before) <= threshold && Number(value) > threshold
    : Number(before) >= threshold && Number(value) < threshold
}

/** Whether an action on a zone applies to this device. Unreachable devices are left out. */
function isTarget(device: Device, kind: DeviceClass | undefined, capability: string): boolean {
  return !device.unavailable && (!kind || device.class === kind) && canSet(device, capability)
}

export function triggerText(trigger: Trigger): string {
  if (trigger.type === 'time') return `${trigger.weekdays ? 'on weekdays' : 'every day'} at ${trigger.at}`
  if (trigger.type === 'becomes') return `${trigger.device} becomes ${spoken(trigger.capability, trigger.value)}`
  return `${trigger.device} goes ${trigger.direction} ${spoken(trigger.capability, trigger.threshold)}`
}

export function conditionText({ device, capability, is, value }: Condition): string {
  return `${device} is ${is === 'equal' ? '' : `${is} `}${spoken(capability, value)}`
}

export function actionText(action: Action): string {
  if (action.type === 'notify') return `notify "${action.text}"`
  if (action.type === 'start') return `start flow ${action.flow}`
  const what = action.type === 'set' ? action.device : `every ${action.class} in ${action.zone}`
  return `${what}: ${spoken(action.capability, action.value)}`
}
