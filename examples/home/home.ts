// A simulated home: switching, heating and flows really change it, and time passes only on request.
import { day, minute, step } from './clock.ts'
import { flows as dailyFlows } from './daily-flows.ts'
import { createDeviceHub } from './device-hub.ts'
import { createFlowRunner } from './flow-runner.ts'
import { apps, devices, zones } from './furnishing.ts'
import { createInsights, keptDays, type InsightData, type InsightLog } from './insights.ts'
import { HomeError, type App, type Change, type Device, type Flow, type FlowRun } from './model.ts'
import type { Notification, Zone } from './model.ts'
import { createWeather } from './weather.ts'

export interface HomeOptions {
  /** The random seed for weather and people. Default 1. */
  readonly seed?: number
  /** The start time; the logs already have the week before it. Default Monday 12 January 2026, 19:00. */
  readonly now?: Date
}

export interface FlowRefresh {
  readonly added: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
  readonly total: number
}

export interface Home {
  /** In the home's own time. */
  now(): number
  /** Lets time pass: sensors measure, thermostats heat, flows run, logs record. */
  advance(minutes: number): void
  zones(): readonly Zone[]
  /** A zone and the zones within it, outermost first. */
  zonesWithin(zone: string): readonly Zone[]
  devices(): readonly Device[]
  device(id: string): Device | undefined
  /** Applies all of the changes, or none and throws a HomeError. Returns what changed, without the effects of flows. */
  set(changes: readonly Change[]): readonly Change[]
  apps(): readonly App[]
  /** Newest last. */
  notifications(): readonly Notification[]

  /** The flows at the last refresh, as the server knows them. */
  flows(): readonly Flow[]
  refreshFlows(): FlowRefresh
  /** Creates or edits a flow in the home's own app, as a person would. The server learns of it with `refreshFlows`. */
  saveFlow(flow: Flow): void
  removeFlow(id: string): void
  startFlow(id: string, text?: string): FlowRun
  /** The latest runs, oldest first. */
  flowRuns(): readonly FlowRun[]

  insightLogs(): readonly InsightLog[]
  insightData(log: InsightLog, range: { readonly minutes: number; readonly points: number }): InsightData
}

export function createHome(options: HomeOptions = {}): Home {
  const end = (options.now ?? new Date('2026-01-12T19:00:00Z')).getTime()
  const handover = end - (end % minute)
  let now = handover - keptDays * day

  const notifications: Notification[] = []
  const flowsInApp = new Map(dailyFlows.map((flow) => [flow.id, flow]))
  let flowsKnown = new Map(flowsInApp)

  const weather = createWeather(options.seed ?? 1)
  const insights = createInsights()
  const hub = createDeviceHub(devices, (change, before) => runner.onChange(change, before))
  const runner = createFlowRunner({
    now: () => now,
    flows: () => flowsInApp.values(),
    device: (id) => hub.get(id),
    devicesIn: (zone) => devicesIn(zone),
    set: (changes) => void hub.set(changes),
    notify: (text) => void notifications.push({ at: now, text }),
  })

  function zonesWithin(id: string): Zone[] {
    const own = zones.filter((zone) => zone.id === id)
    return [...own, ...zones.filter(({ parent }) => parent === id).flatMap((zone) => zonesWithin(zone.id))]
  }

  function devicesIn(zone: string): Device[] {
    const within = new Set(zonesWithin(zone).map(({ id }) => id))
    return hub.all().filter((device) => within.has(device.zone))
  }

  function advance(minutes: number): void {
    if (!Number.isInteger(minutes) || minutes < 0) {
      throw new HomeError(`Time passes in whole minutes, not ${minutes}.`)
    }
    for (let left = minutes; left > 0; left--) {
      now += minute
      if (now % step === 0) hub.measure(weather.measure(now, hub))
      runner.onTime(now)
      if (now % step === 0) insights.record(now, hub.all())
    }
  }

  advance(keptDays * (day / minute))

  return {
    now: () => now,
    advance,
    zones: () => zones,
    zonesWithin,
    devices: () => hub.all(),
    device: (id) => hub.get(id),
    set: (changes) => hub.set(changes),
    apps: () => apps,
    notifications: () => [...notifications],
    flows: () => [...flowsKnown.values()],
    refreshFlows() {
      const before = flowsKnown
      flowsKnown = new Map(flowsInApp)
      const names = (flows: Iterable<Flow>, test: (flow: Flow) => boolean): string[] =>
        [...flows].filter((flow) => test(flow)).map(({ name }) => name)
      return {
        added: names(flowsKnown.values(), ({ id }) => !before.has(id)),
        changed: names(flowsKnown.values(), (flow) => before.has(flow.id) && before.get(flow.id) !== flow),
        removed: names(before.values(), ({ id }) => !flowsKnown.has(id)),
        total: flowsKnown.size,
      }
    },
    saveFlow: (flow) => void flowsInApp.set(flow.id, flow),
    removeFlow: (id) => void flowsInApp.delete(id),
    startFlow(id, text = '') {
      const flow = flowsInApp.get(id)
      if (!flow) throw new HomeError(`Flow '${id}' is no longer in the home. Call refresh_homey_flows to see what is.`)
      if (!flow.enabled) {
        throw new HomeError(
          `Flow '${flow.name}' (${id}) is disabled and was not started. It can be enabled in the app.`,
        )
      }
      return runner.start(flow, { cause: 'started by hand', text })
    },
    flowRuns: () => runner.runs(),
    insightLogs: () => insights.logs(),
    insightData: (log, { minutes, points }) => insights.data(log, { from: now - minutes * minute, to: now, points }),
  }
}
