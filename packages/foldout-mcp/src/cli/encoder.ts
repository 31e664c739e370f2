import { join } from 'node:path'
import type { MiniLm } from 'foldout/minilm'
import { getCacheFolder } from '../gateway/surroundings.ts'
import { createStyler } from './text.ts'
import type { ServerOptions, Surroundings } from './session.ts'

/** Names a folder in whose `node_modules` the encoder is, if it is not installed beside this program. */
const FOLDER_VARIABLE = 'FOLDOUT_ENCODER'

export interface EncoderOptions extends ServerOptions {
  /** Whether the encoder may be used. Default true. */
  readonly encoder?: boolean
}

/**
 * Creates the sentence encoder for searches, and says so on standard error; `undefined` if it is not installed, or not wanted. Its
 * vectors are kept in the folder for caches.
 */
export async function findEncoder(
  { encoder = true, cache, quiet }: EncoderOptions,
  { env, stderr }: Surroundings,
): Promise<MiniLm | undefined> {
  if (!encoder) return undefined
  const [{ createMiniLm }, { createVectorFile }] = await Promise.all([import('foldout/minilm'), import('foldout/node')])
  const installedIn = env[FOLDER_VARIABLE]
  try {
    const found = createMiniLm({
      cache: createVectorFile(join(cache ?? getCacheFolder(env), 'vectors')),
      ...(installedIn ? { installedIn } : {}),
    })
    if (!quiet) stderr.write(createStyler(stderr, env)('dim', `Searches use the encoder ${found.model}.\n`))
    return found
  } catch (error) {
    // Whoever names a folder expects it there.
    if (!installedIn && error instanceof Error && 'code' in error && error.code === 'peer-missing') return undefined
    throw error
  }
}
