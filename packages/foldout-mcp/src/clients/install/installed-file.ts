import { UsageError } from '../../gateway/config/config.ts'
import type { ClientDescription, Scope } from '../client.ts'
import { followLinks } from '../files.ts'
import { chooseFile, listOwnFiles, type Whereabouts } from '../places.ts'
import type { State } from '../state.ts'

interface Target {
  readonly client: ClientDescription
  readonly scope: Scope
  readonly where: Whereabouts
}

/**
 * The file that has the gateway, even if it was deleted since, or else the file to install it in.
 *
 * @throws UsageError if the client has no such file.
 */
export async function chooseInstalledFile({ client, scope, where }: Target, state: State): Promise<string> {
  for (const file of listOwnFiles(client, scope, where)) {
    const receipt = await state.receipts.read(await followLinks(file))
    if (receipt) return file
  }
  const file = chooseFile(client, scope, where)
  if (file === undefined) throw new UsageError(`${client.title} has no per-project configuration.`)
  return file
}
