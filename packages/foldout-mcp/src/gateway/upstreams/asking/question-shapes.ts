import * as v from 'valibot'
import {
  atLeast,
  atMost,
  boolean,
  custom,
  int,
  list,
  looseObject,
  number,
  oneOf,
  record,
  string,
  union,
} from '../../../shared/shapes.ts'

/*
 * The questions of servers, as MCP defines them. Fields that it does not define are allowed. The tests compare this with the official
 * SDK.
 */

const optional = v.exactOptional
const anything = v.unknown()
const share = v.pipe(number, atLeast(0), atMost(1))
const object = looseObject({})
const url = custom<string>((value) => typeof value === 'string' && URL.canParse(value), 'a URL')
const base64 = custom<string>((value) => typeof value === 'string' && isBase64(value), 'Base64')
const request = {
  _meta: optional(looseObject({ progressToken: optional(union([string, int], 'a string or a number')) })),
  task: optional(looseObject({ ttl: optional(number) })),
}

const titles = { title: optional(string), description: optional(string) }
const choices = list(looseObject({ const: string, title: string }))
const many = {
  ...titles,
  type: oneOf(['array']),
  minItems: optional(number),
  maxItems: optional(number),
  default: optional(list(string)),
}
const text = { ...titles, type: oneOf(['string']), default: optional(string) }
const field = union(
  [
    looseObject({ ...text, enum: list(string), enumNames: optional(list(string)) }),
    looseObject({ ...text, oneOf: choices }),
    looseObject({ ...many, items: looseObject({ type: oneOf(['string']), enum: list(string) }) }),
    looseObject({ ...many, items: looseObject({ anyOf: choices }) }),
    looseObject({ ...titles, type: oneOf(['boolean']), default: optional(boolean) }),
    looseObject({
      ...text,
      minLength: optional(number),
      maxLength: optional(number),
      format: optional(oneOf(['email', 'uri', 'date', 'date-time'])),
    }),
    looseObject({
      ...titles,
      type: oneOf(['number', 'integer']),
      minimum: optional(number),
      maximum: optional(number),
      default: optional(number),
    }),
  ],
  'a field of a form',
)
const form = looseObject({
  ...request,
  mode: optional(oneOf(['form'])),
  message: string,
  requestedSchema: looseObject({
    type: oneOf(['object']),
    properties: record(field),
    required: optional(list(string)),
  }),
})
const page = looseObject({ ...request, mode: oneOf(['url']), message: string, elicitationId: string, url })

const role = oneOf(['user', 'assistant'])
const annotations = optional(looseObject({ audience: optional(list(role)), priority: optional(share) }))
const shared = { annotations, _meta: optional(object) }
const said = looseObject({ ...shared, type: oneOf(['text']), text: string })
const media = looseObject({ ...shared, type: oneOf(['image', 'audio']), data: base64, mimeType: string })
const resource = union(
  [looseObject({ uri: string, text: string }), looseObject({ uri: string, blob: base64 })],
  'a resource',
)
const block = union(
  [
    said,
    media,
    looseObject({ ...shared, type: oneOf(['resource_link']), uri: string, name: string }),
    looseObject({ ...shared, type: oneOf(['resource']), resource }),
  ],
  'content',
)
const spoken = union(
  [
    said,
    media,
    looseObject({ type: oneOf(['tool_use']), name: string, id: string, input: object }),
    looseObject({
      type: oneOf(['tool_result']),
      toolUseId: string,
      content: list(block),
      structuredContent: optional(object),
      isError: optional(boolean),
    }),
  ],
  'content of a message',
)
const completion = looseObject({
  ...request,
  messages: list(looseObject({ role, content: union([spoken, list(spoken)], 'content'), _meta: optional(object) })),
  modelPreferences: optional(
    looseObject({
      hints: optional(list(looseObject({ name: optional(string) }))),
      costPriority: optional(share),
      speedPriority: optional(share),
      intelligencePriority: optional(share),
    }),
  ),
  systemPrompt: optional(string),
  includeContext: optional(oneOf(['none', 'thisServer', 'allServers'])),
  temperature: optional(number),
  maxTokens: int,
  stopSequences: optional(list(string)),
  metadata: optional(object),
  tools: optional(
    list(
      looseObject({
        name: string,
        ...titles,
        inputSchema: looseObject({
          type: oneOf(['object']),
          properties: optional(record(anything)),
          required: optional(list(string)),
        }),
        outputSchema: optional(looseObject({ type: oneOf(['object']) })),
      }),
    ),
  ),
  toolChoice: optional(looseObject({ mode: optional(oneOf(['auto', 'required', 'none'])) })),
})

/** The parameters of each question that a modern client can be asked. */
export const QUESTION_SHAPES: ReadonlyMap<string, v.GenericSchema> = new Map<string, v.GenericSchema>([
  ['elicitation/create', union([form, page], 'a form or a page')],
  ['sampling/createMessage', completion],
])

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[\w+/-]*={0,2}$/.test(text)
}
