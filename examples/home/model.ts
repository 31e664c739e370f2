// The parts of a home, as plain data that home.ts changes.

/** Thrown for a request that the home cannot fulfill. */
export class HomeError extends Error {
  override readonly name = 'HomeError'
}

export type Value = boolean | number | string

/** A house, a floor or a room. Floors belong to the house, and rooms to floors. */
export interface Zone {
  readonly id: string
  readonly name: string
  readonly parent: string | undefined
}

export const deviceClasses = ['light', 'socket', 'thermostat', 'sensor', 'blinds', 'speaker', 'lock'] as const

export type DeviceClass = (typeof deviceClasses)[number]

export interface Device {
  readonly id: string
  /** The name that people use. Devices in different rooms may share a name. */
  readonly name: string
  readonly zone: string
  readonly class: DeviceClass
  /** The app that drives it. */
  readonly app: string
  /** The value of each of its capabilities. */
  readonly state: Readonly<Record<string, Value>>
  /** Power in watts at full output. */
  readonly watts: number
  /** Why it cannot be reached; undefined if it can. */
  readonly unavailable: string | undefined
}

export interface Change {
  readonly device: string
  readonly capability: string
  readonly value: Value
}

export type Trigger =
  /** Every day or on weekdays, at HH:MM. */
  | { readonly type: 'time'; readonly at: string; readonly weekdays: boolean }
  | { readonly type: 'becomes'; readonly device: string; readonly capability: string; readonly value: Value }
  | {
      readonly type: 'crosses'
      readonly device: string
      readonly capability: string
      readonly direction: 'above' | 'below'
      readonly threshold: number
    }

export interface Condition {
  readonly device: string
  readonly capability: string
  readonly is: 'equal' | 'above' | 'below'
  readonly value: Value
}

export type Action =
  | { readonly type: 'set'; readonly device: string; readonly capability: string; readonly value: Value }
  | {
      readonly type: 'setZone'
      readonly zone: string
      readonly class: DeviceClass
      readonly capability: string
      readonly value: Value
    }
  /** `{text}` in it is replaced by the text that the flow was started with. */
  | { readonly type: 'notify'; readonly text: string }
  | { readonly type: 'start'; readonly flow: string }

export const flowKinds = ['standard', 'advanced'] as const

export interface Flow {
  readonly id: string
  readonly name: string
  readonly folder: string
  readonly kind: (typeof flowKinds)[number]
  readonly enabled: boolean
  /** A flow without triggers runs only when someone starts it. */
  readonly triggers: readonly Trigger[]
  readonly conditions: readonly Condition[]
  readonly actions: readonly Action[]
}

export interface FlowRun {
  readonly flow: string
  readonly at: number
  readonly cause: string
  /** The condition that stopped it, if any. */
  readonly unmet: string | undefined
  /** What it did, one line per action. */
  readonly done: readonly string[]
}

export interface Notification {
  readonly at: number
  readonly text: string
}

export const appStates = ['running', 'stopped', 'crashed'] as const

export interface App {
  readonly id: string
  readonly name: string
  readonly version: string
  readonly state: (typeof appStates)[number]
  /** The version to update to, if there is one. */
  readonly update: string | undefined
}
