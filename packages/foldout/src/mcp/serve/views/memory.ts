import { createExposureMemory, type ExposureMemory } from '../../../catalog/exposure.ts'
import type { Session } from '../../../session/session.ts'

/** A server's memory of a legacy client from one request to the next. */
export interface ClientMemory extends ExposureMemory {
  /** The log level that the client has requested. */
  readonly logLevel: string | undefined
  /** The resources that the client has subscribed to. */
  readonly watched: readonly string[]
  setLogLevel(level: string): void
  watch(uri: string): void
  unwatch(uri: string): void
}

/** A memory that lives as long as a connection. */
export function createClientMemory(): ClientMemory {
  const exposure = createExposureMemory()
  const watched = new Set<string>()
  let logLevel: string | undefined
  return {
    get joined() {
      return exposure.joined
    },
    join: (tool) => exposure.join(tool),
    get logLevel() {
      return logLevel
    },
    get watched() {
      return [...watched]
    },
    setLogLevel: (level) => void (logLevel = level),
    watch: (uri) => void watched.add(uri),
    unwatch: (uri) => void watched.delete(uri),
  }
}

/** A client whose session is stored outside the process. */
export interface KeptClient {
  /** Names the client, the same on every machine. Not the session's id, which must stay secret. */
  readonly name: string
  readonly memory: ClientMemory
  /** The session that its tools work with, unless the server has others for them. */
  readonly session: Session
}
