import { all, auto, hybrid, metaTool, twoPhase, type Exposure } from 'foldout/catalog'
import { UsageError } from '../config/config.ts'
import type { ExposureName } from '../config/definition.ts'

/** What is known of a catalog that is to be exposed. */
export interface ExposureOptions {
  /** Whether all servers have said which tools they have. By default they have. */
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

/** The exposure of a name. The one with programs needs a package that is not part of every installation. */
export async function createExposure(name: ExposureName, options: ExposureOptions = {}): Promise<Exposure> {
  if (name !== 'code') return EXPOSURES[name](options)
  const { code } = await import('foldout/code')
  try {
    return code()
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}
