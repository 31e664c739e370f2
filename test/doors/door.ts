/** A place where foreign input enters Foldout: from a model, a client, an upstream server, a skill or a file. */
export interface Door {
  readonly name: string
  /** What the input is. Each kind has its hostile shapes. */
  readonly takes: 'text' | 'json'
  /** The smallest of the three sizes at which growth is measured; the others are 4 and 16 times as large. */
  readonly size?: number
  /** Shapes of the kind that are meaningless here or covered by another door. */
  readonly without?: readonly string[]
  /** Why the door's bounds are not enforced yet. */
  readonly skip?: string
  /** Lets the input in. May refuse it with a Foldout error, never with another error. */
  open(input: never): unknown
}

export interface TextDoor extends Door {
  readonly takes: 'text'
  open(input: string): unknown
}

export interface JsonDoor extends Door {
  readonly takes: 'json'
  open(input: unknown): unknown
}

export type AnyDoor = TextDoor | JsonDoor

export function textDoor(name: string, open: (input: string) => unknown, options: Partial<Door> = {}): TextDoor {
  return { ...options, name, takes: 'text', open }
}

export function jsonDoor(name: string, open: (input: unknown) => unknown, options: Partial<Door> = {}): JsonDoor {
  return { ...options, name, takes: 'json', open }
}

/** Lets an input of the door's kind in. */
export function enter(door: AnyDoor, input: unknown): unknown {
  return door.takes === 'text' ? door.open(String(input)) : door.open(input)
}
