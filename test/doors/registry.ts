import { catalogDoors } from './catalog-doors.ts'
import type { AnyDoor } from './door.ts'
import { promptDoors } from './prompt-doors.ts'
import { serverDoors } from './server-doors.ts'
import { toolDoors } from './tool-doors.ts'

/** Every public door that takes input from outside. A new one belongs here. */
export const DOORS: readonly AnyDoor[] = [...promptDoors, ...toolDoors, ...catalogDoors, ...serverDoors]
