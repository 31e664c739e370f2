import type { RawTool } from 'foldout/catalog'
import type { Variables } from '../config/variables.ts'
import type { SecretOrigin, Secrets } from '../policy/secrets/secrets.ts'
import type { HeldPost } from './asking/held-post.ts'
import type { ConnectedClient } from './asking/outside.ts'
import type { Connection, ConnectionOptions } from './connection.ts'
import type { UpstreamState } from '../model/server-state.ts'
import type { Snapshot } from '../model/snapshot.ts'
import type { JsonObject } from 'foldout-shared/values'

/** A call to send to a server. */
export interface ToolCall {
  readonly tool: string
  readonly args: JsonObject
  /** Says why the call must not be sent, given the tool as the running server defines it. */
  check(tool: RawTool): string | undefined
}

/** Runs work when it is its turn. */
export type Turn = <Result>(work: () => PromiseLike<Result>) => Promise<Result>

export interface UpstreamOptions extends Pick<
  ConnectionOptions,
  'timeoutMs' | 'version' | 'guard' | 'signIns' | 'onError' | 'onNotification' | 'onAsked' | 'translate'
> {
  readonly variables: Variables
  readonly secrets: Secrets
  /** Whether a client had a say in the values that the server gets. */
  readonly secretOrigin: SecretOrigin
  /** Passes clients' answers between gateways, if there are several. */
  readonly post?: HeldPost | undefined
  /** The connected clients that may use the server. */
  listClients(): readonly ConnectedClient[]
  /** Headers of the connection's client. Variables in them are not filled in, because the client is not the user. */
  readonly headers?: Readonly<Record<string, string>>
  /** The protocol that the server is known to speak. */
  getEra(): Snapshot['era'] | undefined
  onSnapshot(snapshot: Snapshot): void
  onState(state: UpstreamState): void
  /** Runs a start when it is this server's turn. */
  readonly turn: Turn
  /** Whether someone is subscribed to the server, so that it is not idle. */
  isWatched(): boolean
  /** Whether someone waits for notifications of the server, so that it must not stay stopped. */
  hasSubscribers(): boolean
  /** Called with a new connection before anything else uses it. */
  prepare(connection: Connection): Promise<void>
}
