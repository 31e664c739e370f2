import { unwatchFile, watchFile } from 'node:fs'
import type { GatewayConfig } from '../gateway/config/config.ts'
import type { ExposureName } from '../gateway/config/definition.ts'
import { readGatewayConfig } from '../gateway/config/read-config.ts'
import { dropUndefined } from '../gateway/fields.ts'
import { createGateway, type Gateway } from '../gateway/gateway.ts'
import { readVersion } from '../gateway/surroundings.ts'
import { recordTraffic, type TrafficRecorder } from '../gateway/traffic/record.ts'
import { createRedactor, findSecrets } from '../gateway/traffic/redact.ts'
import { EXIT } from './exit-codes.ts'
import {
  createReporter,
  findEncoder,
  getConfigFiles,
  getGatewayOptions,
  type EncoderOptions,
  type Surroundings,
} from './session.ts'

export interface ServeOptions extends EncoderOptions {
  readonly http?: number
  /** The file that traffic is written to. */
  readonly record?: string
  readonly expose?: ExposureName
}

/** How long the first client waits for servers whose tools are not known yet. Later ones are announced. */
const FIRST_LIST_MS = 10_000
const WATCH_MS = 500

/** `foldout serve`: the gateway over standard input and output, and over HTTP if asked. Returns when it ends. */
export async function serve(options: ServeOptions, surroundings: Surroundings): Promise<number> {
  const { signal, env, stderr } = surroundings
  const files = getConfigFiles(options)
  const report = createReporter({ quiet: true, ...options }, surroundings)
  const embed = await findEncoder(options, surroundings)
  const onProblem = (message: string): void => report({ type: 'problem', server: undefined, message })
  const config = await readGatewayConfig(files)
  const recorder = options.record === undefined ? undefined : createRecorder(options.record, config, { env, onProblem })
  const gateway = await createGateway(config, {
    ...getGatewayOptions(options, env),
    ...dropUndefined({ expose: options.expose, embed, onTraffic: recorder?.onTraffic }),
    onEvent: report,
  })
  const stopWatching = watchConfig(files, gateway, onProblem)
  try {
    const ends = [untilStopped(signal)]
    if (options.http !== undefined) {
      const { url } = await gateway.http({ port: options.http })
      stderr.write(`Serving at ${url}\n`)
    }
    const { stdin } = process
    if (options.http === undefined || !stdin.isTTY) {
      await gateway.ready(FIRST_LIST_MS)
      const { closed } = await gateway.stdio(dropUndefined({ preset: options.preset }))
      // Standard input of a service is often empty from the start, which does not end the service.
      const isLast = async (): Promise<void> => {
        await closed
        const hasSpoken = 'bytesRead' in stdin && stdin.bytesRead !== 0
        if (options.http !== undefined && !hasSpoken) await untilStopped(signal)
      }
      ends.push(isLast())
    }
    await Promise.race(ends)
    return EXIT.done
  } finally {
    stopWatching()
    await gateway.close()
    await embed?.close()
    await recorder?.close()
  }
}

function createRecorder(
  file: string,
  config: GatewayConfig,
  { env, onProblem }: { readonly env: NodeJS.ProcessEnv; readonly onProblem: (message: string) => void },
): TrafficRecorder {
  const redactor = createRedactor(findSecrets(config, env))
  return recordTraffic(file, { redactor, version: readVersion(), onProblem })
}

function untilStopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** Applies changes of the files while the gateway runs. Asks for changes, since editors replace files in many ways. */
function watchConfig(files: readonly string[], gateway: Gateway, onProblem: (message: string) => void): () => void {
  const apply = async (): Promise<void> => {
    try {
      await gateway.update(await readGatewayConfig(files))
    } catch (error) {
      onProblem(`The new configuration is not used: ${(error as Error).message}`)
    }
  }
  const listener = (): void => void apply()
  for (const file of files) watchFile(file, { interval: WATCH_MS, persistent: false }, listener)
  return () => {
    for (const file of files) unwatchFile(file, listener)
  }
}
