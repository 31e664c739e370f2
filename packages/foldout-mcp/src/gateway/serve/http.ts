import { listenForMcp, type HttpOptions, type ServedHttp, type ServedMcp } from 'foldout/mcp'

export interface ListenOptions extends Omit<HttpOptions, 'path'> {
  /** The server of a preset; the empty name is that of everything. */
  find(preset: string): Promise<ServedMcp | undefined>
}

const PATH = '/mcp'

/** Serves everything at `/mcp`, and each preset at `/mcp/<preset>`. */
export function listenHttp({ find, ...options }: ListenOptions): Promise<ServedHttp> {
  return listenForMcp(
    async (path) => {
      if (path === PATH) return find('')
      if (!path.startsWith(`${PATH}/`)) return undefined
      const preset = decode(path.slice(PATH.length + 1))
      return preset === undefined || preset === '' ? undefined : find(preset)
    },
    { ...options, path: PATH },
  )
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
