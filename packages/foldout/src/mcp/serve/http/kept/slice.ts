import { isObject } from 'foldout-shared/values'
import { defineSlice } from '../../../../session/slice.ts'
import { MAX_LETTERS, MAX_LETTERS_BYTES, MAX_WATCHED } from '../../../limits.ts'

/** A message of a client that reached a machine other than the intended one. */
export interface Letter {
  readonly id: string
  /** The copy of the session that it is for; `ANY_COPY` if that is unknown. */
  readonly to: string
  readonly message: Readonly<Record<string, unknown>>
  /** How long the message is as JSON. */
  readonly bytes: number
}

/** The stored state of a client's session. */
export interface ClientState {
  /** Names the client to tools. The session's own id is not kept, because anyone who has it can use the session. */
  readonly name: string
  readonly principal: string | null
  /** The parameters of the client's `initialize`. */
  readonly initialize: Readonly<Record<string, unknown>>
  readonly joined: readonly string[]
  readonly logLevel: string | null
  readonly watched: readonly string[]
  readonly letters: readonly Letter[]
}

export type Begun = Pick<ClientState, 'name' | 'principal' | 'initialize'>

const NOTHING: ClientState = {
  name: '',
  principal: null,
  initialize: {},
  joined: [],
  logLevel: null,
  watched: [],
  letters: [],
}

const add = <Item>(list: readonly Item[], item: Item): readonly Item[] => {
  if (list.includes(item)) return list
  return [...list, item]
}

/** Every machine reads all letters on each request, so their size is limited. */
function dropOldest(letters: readonly Letter[]): readonly Letter[] {
  let bytes = 0
  const first = letters.findLastIndex((letter, at) => {
    bytes += letter.bytes
    return bytes > MAX_LETTERS_BYTES || letters.length - at > MAX_LETTERS
  })
  return letters.slice(first + 1)
}

/** The state of a client's session that every machine has to know. */
export const clientSlice = defineSlice({
  name: 'mcp-client',
  initial: NOTHING,
  reducers: {
    begun: (state, begun: Begun): ClientState => ({ ...state, ...begun }),
    /** Records that the client is still connected. */
    used: (state): ClientState => state,
    joined: (state, tool: string): ClientState => ({ ...state, joined: add(state.joined, tool) }),
    leveled: (state, logLevel: string): ClientState => ({ ...state, logLevel }),
    watched: (state, uri: string): ClientState => ({
      ...state,
      watched: add(state.watched, uri).slice(0, MAX_WATCHED),
    }),
    unwatched: (state, uri: string): ClientState => ({
      ...state,
      watched: state.watched.filter((other) => other !== uri),
    }),
    sent: (state, letter: Letter): ClientState => ({
      ...state,
      letters: dropOldest([...state.letters, letter]),
    }),
    received: (state, id: string): ClientState => ({
      ...state,
      letters: state.letters.filter((letter) => letter.id !== id),
    }),
  },
  fromJson(json) {
    if (!isObject(json) || typeof json['name'] !== 'string') throw new Error('it is not the session of an MCP client')
    return { ...NOTHING, ...json }
  },
})
