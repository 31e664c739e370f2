import { findDefaultConfig } from '../../gateway/config/own-entry.ts'
import { requireFile } from '../../gateway/config/text-file.ts'
import { getTunedFile, writeTunedFile } from '../../gateway/config/tuned-file.ts'
import { EXIT } from '../support/exit-codes.ts'
import type { Surroundings } from '../support/surroundings.ts'
import { formatCore, learnFromTraffic } from './advise.ts'
import type { TuneOptions } from './tune.ts'

/** Lists the tools of gateway traffic from the start that save most: this is how a gateway folds. Returns the exit code. */
export async function tuneGateway(file: string, options: TuneOptions, { stdout }: Surroundings): Promise<number> {
  const { config = findDefaultConfig(process.cwd()), dryRun = false } = options
  if (config !== undefined) await requireFile(config)
  const learned = await learnFromTraffic(file, options)
  const pays = learned.evidence.isEnough && learned.core.length > 0 && learned.checked.mean > 0
  const target = pays && !dryRun && config !== undefined ? getTunedFile(config) : null
  if (target !== null) await writeTunedFile(target, learned.core)
  if (options.json) {
    stdout.write(`${JSON.stringify({ ...learned, written: target }, null, 2)}\n`)
    return EXIT.done
  }
  const said = pays ? describeWritten(target, dryRun) : 'Nothing was written: no core saves anything on other clients.'
  stdout.write(`${formatCore(learned, stdout.columns)}${said}\n`)
  return EXIT.done
}

function describeWritten(target: string | null, dryRun: boolean): string {
  if (target !== null) return `Written to ${target}. Delete the file to undo it.`
  if (dryRun) return 'Nothing was written, because of --dry-run.'
  return 'Nothing was written: this folder has no configuration. Name it with --config <file>.'
}
