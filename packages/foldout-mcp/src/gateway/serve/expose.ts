import { all, auto, hybrid, metaTool, twoPhase, type Exposure } from 'foldout/catalog'
import { UsageError } from '../config/config.ts'
import type { ExposureName } from '../config/definition.ts'

/** What is known about the catalog to expose. */
export interface ExposureOptions {
  /** Whether the tools of all servers are known. Default true. */
  readonly isComplete?: () => boolean
}

const EXPOSURES: Readonly<Record<Exclude<ExposureName, 'code'>, (options: ExposureOptions) => Exposure>> = {
  auto: (options) => auto(options),
  all: () => all(),
  hybrid: () => hybrid(),
  'meta-tool': () => metaTool(),
  'two-phase': () => twoPhase(),
}

export const EXPOSURE_NAMES: readonly ExposureName[] = [...(Object.keys(EXPOSURES) as ExposureName[]), 'code']

/** Creates the exposure with this name. `code` needs an optional package. */
export async function createExposure(name: ExposureName, options: ExposureOptions = {}): Promise<Exposure> {
  if (name !== 'code') return EXPOSURES[name](options)
  const { code } = await import('foldout/code')
  try {
    return code()
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}
