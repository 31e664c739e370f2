import { computeInterval, pairHalves, type MeanInterval } from '../../core/price/interval.ts'
import { learnCore, priceCore, type LearnCoreOptions } from './learn-core.ts'
import type { CatalogRecording, RecordedClient } from './recording.ts'

/**
 * What learned cores save clients that they were not learned from, in tokens for each client.
 *
 * @example
 * ```ts
 * const format = ({ mean, low, high }: CheckedCore): string => `${mean} tokens a client, between ${low} and ${high}`
 * ```
 */
export interface CheckedCore extends MeanInterval {
  readonly clients: number
  /** Whether a core certainly saves: the interval is above zero. */
  readonly isCertain: boolean
}

/**
 * Checks what {@link learnCore} learns on clients that it was not learned from: each half of the clients is billed with
 * the core of the other half.
 *
 * @example
 * ```ts
 * const recorder = createCatalogRecorder(catalog)
 * const { mean, isCertain } = checkCore(recorder.recording())
 * if (isCertain) console.log(`A learned core saves ${mean} tokens a client.`)
 * ```
 */
export function checkCore(recording: CatalogRecording, options: LearnCoreOptions = {}): CheckedCore {
  const clients = recording.clients.filter(({ uses }) => uses.length > 0)
  const saved = pairHalves(clients).flatMap(([learned, checked]) => {
    // Whether there is enough evidence is decided for all clients.
    const { core } = learnCore(withClients(recording, learned), { ...options, minClients: 0, minUses: 0 })
    return checked.map((client) => priceCore(withClients(recording, [client]), core, options))
  })
  const interval = computeInterval(saved)
  return { ...interval, clients: clients.length, isCertain: clients.length > 1 && interval.low > 0 }
}

function withClients(recording: CatalogRecording, clients: readonly RecordedClient[]): CatalogRecording {
  return { ...recording, clients }
}
