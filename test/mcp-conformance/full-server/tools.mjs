// The tools of the full server.
import { setTimeout as delay } from 'node:timers/promises'
import {
  acceptedContent,
  inputRequired,
  MissingRequiredClientCapabilityError,
  ProtocolError,
} from '@modelcontextprotocol/server'
import { PIXEL } from './content.mjs'

const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA='

const text = (value) => ({ type: 'text', text: value })
const say = (value) => ({ content: [text(value)] })
const image = { type: 'image', data: PIXEL, mimeType: 'image/png' }
const object = (properties, required = Object.keys(properties)) => ({ type: 'object', properties, required })
const elicit = (message, properties, required) =>
  inputRequired.elicit({ message, requestedSchema: object(properties, required) })
const sample = (prompt, maxTokens = 100) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: text(prompt) }], maxTokens })
const ask = (inputRequests, requestState) =>
  inputRequired({ inputRequests, ...(requestState === undefined ? {} : { requestState }) })
const getAnswer = ({ mcpReq: { inputResponses = {} } }, key) =>
  Object.hasOwn(inputResponses, key) ? inputResponses[key] : undefined

const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'
const NAME = { name: { type: 'string' } }
const OK = { ok: { type: 'boolean' } }

export function createTools(state) {
  return { ...createAnswers(), ...createQuestions(state), ...createRounds(state), ...createEvents(state) }
}

/** Tools that answer at once. */
function createAnswers() {
  return {
    test_simple_text: {
      description: 'Answers with text.',
      annotations: { title: 'Simple', readOnlyHint: true, 'example.com/hint': 7 },
      call: () => say('This is a simple text response for testing.'),
    },
    test_image_content: { description: 'Answers with an image.', call: () => ({ content: [image] }) },
    test_audio_content: {
      description: 'Answers with audio.',
      call: () => ({ content: [{ type: 'audio', data: SILENCE, mimeType: 'audio/wav' }] }),
    },
    test_embedded_resource: {
      description: 'Answers with a resource.',
      call: () => ({
        content: [
          {
            type: 'resource',
            resource: {
              uri: 'test://embedded-resource',
              mimeType: 'text/plain',
              text: 'This is an embedded resource content.',
            },
          },
        ],
      }),
    },
    test_multiple_content_types: {
      description: 'Answers with several kinds of content.',
      call: () => ({
        content: [
          text('Multiple content types test:'),
          image,
          {
            type: 'resource',
            resource: {
              uri: 'test://mixed-content-resource',
              mimeType: 'application/json',
              text: '{"test":"data","value":123}',
            },
          },
        ],
      }),
    },
    test_resource_link: {
      description: 'Answers with a link, annotations and metadata.',
      call: () => ({
        content: [
          {
            type: 'resource_link',
            uri: 'test://unlisted',
            name: 'Unlisted',
            annotations: { audience: ['assistant'], priority: 1 },
            _meta: { 'example.com/link': 1 },
          },
        ],
        _meta: { 'example.com/result': { deep: [1, 2] } },
      }),
    },
    test_structured_content: {
      description: 'Answers with data.',
      outputSchema: object({ degrees: { type: 'number' } }),
      call: () => ({ content: [text('{"degrees":21.5}')], structuredContent: { degrees: 21.5 } }),
    },
    test_error_handling: {
      description: 'Fails.',
      call: () => ({ ...say('This tool intentionally returns an error for testing'), isError: true }),
    },
    test_refusal: {
      description: 'Is refused with a code and data.',
      call() {
        throw new ProtocolError(-32_050, 'Refused for a test', { reason: 'example', retry: [1, 2] })
      },
    },
    test_echo_meta: {
      description: 'Answers with the metadata of the request.',
      call: (_, { mcpReq: { _meta: { progressToken: __, ...meta } = {} } }) => say(JSON.stringify(meta)),
    },
    test_capabilities: {
      description: 'Answers with what the client can do.',
      call: (_, { mcpReq }, { server }) =>
        say(
          Object.keys(mcpReq.envelope?.[CAPABILITIES] ?? server.getClientCapabilities() ?? {})
            .toSorted()
            .join(' '),
        ),
    },
    test_headers: {
      description: 'Takes an argument that is in a header as well.',
      inputSchema: object({ region: { type: 'string', 'x-mcp-header': 'Region' } }),
      call: ({ region }) => say(`Region ${region}.`),
    },
    show_widget: {
      description: 'Shows a widget.',
      _meta: { ui: { resourceUri: 'ui://widget/view.html' } },
      call: () => say('Shown.'),
    },
    json_schema_2020_12_tool: {
      description: 'Tool with JSON Schema 2020-12 features',
      inputSchema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        $defs: {
          address: {
            $anchor: 'addressDef',
            type: 'object',
            properties: { street: { type: 'string' }, city: { type: 'string' } },
          },
        },
        properties: {
          name: { type: 'string' },
          address: { $ref: '#/$defs/address' },
          contactMethod: { type: 'string', enum: ['phone', 'email'] },
          phone: { type: 'string' },
          email: { type: 'string' },
        },
        allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
        if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
        // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
        then: { required: ['phone'] },
        else: { required: ['email'] },
        additionalProperties: false,
      },
      call: () => say('Done.'),
    },
  }
}

/** Tools that ask the client one question. The SDK asks clients from before 2026-07-28. */
function createQuestions({ codec }) {
  const completed = ({ action, content }) =>
    say(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`)
  const createElicitation = (description, properties) => ({
    description,
    call(_, context) {
      const answer = getAnswer(context, 'form')
      return answer ? completed(answer) : ask({ form: elicit('Please fill this in.', properties, []) })
    },
  })
  const options = ['option1', 'option2', 'option3']
  const titles = (what) => [
    { const: 'value1', title: `First ${what}` },
    { const: 'value2', title: `Second ${what}` },
    { const: 'value3', title: `Third ${what}` },
  ]
  return {
    test_sampling: {
      description: 'Asks a model.',
      inputSchema: object({ prompt: { type: 'string' } }),
      call({ prompt }, context) {
        const answer = getAnswer(context, 'sample')
        return answer ? say(`LLM response: ${answer.content?.text}`) : ask({ sample: sample(prompt) })
      },
    },
    test_elicitation: {
      description: 'Asks the user.',
      inputSchema: object({ message: { type: 'string' } }),
      call({ message }, context) {
        const answer = getAnswer(context, 'form')
        const properties = {
          username: { type: 'string', description: "User's response" },
          email: { type: 'string', description: "User's email address" },
        }
        if (!answer) return ask({ form: elicit(message, properties) })
        return say(`User response: ${JSON.stringify(answer)}`)
      },
    },
    test_elicitation_sep1034_defaults: createElicitation('Asks with defaults.', {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    }),
    test_elicitation_sep1330_enums: createElicitation('Asks with choices.', {
      untitledSingle: { type: 'string', enum: options },
      titledSingle: { type: 'string', oneOf: titles('Option') },
      legacyEnum: {
        type: 'string',
        enum: ['opt1', 'opt2', 'opt3'],
        enumNames: ['Option One', 'Option Two', 'Option Three'],
      },
      untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
      titledMulti: { type: 'array', items: { anyOf: titles('Choice') } },
    }),
    test_elicitation_url: {
      description: 'Sends the user to a page.',
      async call(_, context, { server }) {
        const answer = getAnswer(context, 'page')
        if (!answer) {
          const where = { message: 'Please sign in.', url: 'https://example.com/sign-in', elicitationId: 'sign-in-1' }
          return ask({ page: inputRequired.elicitUrl(where) })
        }
        const isLegacy = context.mcpReq.envelope === undefined
        const done = { method: 'notifications/elicitation/complete', params: { elicitationId: 'sign-in-1' } }
        if (isLegacy) await server.notification(done)
        return say(`Page: ${answer.action}`)
      },
    },
    test_streaming_elicitation: {
      description: 'Reports progress, then asks.',
      async call(_, context) {
        const answer = getAnswer(context, 'form')
        if (answer) return completed(answer)
        await reportProgress(context, 1)
        return ask({ form: elicit('What is your name?', NAME) })
      },
    },
    test_missing_capability: {
      description: 'Needs a client with sampling.',
      call(_, { mcpReq }, { server }) {
        const declared = mcpReq.envelope?.[CAPABILITIES] ?? server.getClientCapabilities() ?? {}
        if (!declared.sampling)
          throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } })
        return say('The client has sampling.')
      },
    },
    test_input_required_result_tampered_state: {
      description: 'Asks with a state that is signed.',
      async call(_, context) {
        if (getAnswer(context, 'confirm') && context.mcpReq.requestState()) return say('state-ok')
        return ask({ confirm: elicit('Please confirm', OK) }, await codec.mint({ step: 1 }))
      },
    },
  }
}

/** Tools that ask as specified in 2026-07-28. */
function createRounds({ codec }) {
  return {
    test_input_required_result_elicitation: {
      description: 'Asks for a name.',
      call(_, { mcpReq }) {
        const answer = acceptedContent(mcpReq.inputResponses, 'user_name')
        if (typeof answer?.name === 'string') return say(`Hello, ${answer.name}!`)
        return ask({ user_name: elicit('What is your name?', NAME) })
      },
    },
    test_input_required_result_sampling: {
      description: 'Asks a model for a capital.',
      call(_, context) {
        const answer = getAnswer(context, 'capital_question')
        return answer ? say(answer.content?.text) : ask({ capital_question: sample('What is the capital of France?') })
      },
    },
    test_input_required_result_list_roots: {
      description: 'Asks for folders.',
      call(_, context) {
        const answer = getAnswer(context, 'client_roots')
        if (!answer) return ask({ client_roots: inputRequired.listRoots() })
        return say(answer.roots.map(({ uri, name }) => `${name}: ${uri}`).join('\n'))
      },
    },
    test_input_required_result_request_state: {
      description: 'Asks for a confirmation, with a state.',
      async call(_, context) {
        if (getAnswer(context, 'confirm') && context.mcpReq.requestState()?.step === 1) return say('state-ok')
        return ask({ confirm: elicit('Please confirm', OK) }, await codec.mint({ step: 1 }))
      },
    },
    test_input_required_result_multiple_inputs: {
      description: 'Asks for three things at once.',
      async call(_, context) {
        const answers = ['user_name', 'greeting', 'client_roots'].map((key) => getAnswer(context, key))
        if (answers.every(Boolean)) return say(JSON.stringify(answers))
        const questions = {
          user_name: elicit('What is your name?', NAME),
          greeting: sample('Generate a greeting', 50),
          client_roots: inputRequired.listRoots(),
        }
        return ask(questions, await codec.mint({ step: 1 }))
      },
    },
    test_input_required_result_multi_round: {
      description: 'Asks twice.',
      async call(_, context) {
        const { step, name } = context.mcpReq.requestState() ?? {}
        const first = getAnswer(context, 'step1')
        const second = getAnswer(context, 'step2')
        if (step === 2 && second) return say(`${name} likes ${second.content?.color}.`)
        if (step === 1 && first) {
          const color = { color: { type: 'string' } }
          const next = await codec.mint({ step: 2, name: first.content?.name })
          return ask({ step2: elicit('Step 2: What is your favorite color?', color) }, next)
        }
        return ask({ step1: elicit('Step 1: What is your name?', NAME) }, await codec.mint({ step: 1 }))
      },
    },
    test_input_required_result_capabilities: {
      description: 'Asks only what the client can answer.',
      call(_, context, { server }) {
        const { sampling, elicitation } =
          context.mcpReq.envelope?.[CAPABILITIES] ?? server.getClientCapabilities() ?? {}
        const answers = ['sample', 'form'].map((key) => getAnswer(context, key))
        if (answers.some(Boolean)) return say(JSON.stringify(answers))
        return ask({
          ...(sampling ? { sample: sample('Say hello.') } : {}),
          ...(elicitation ? { form: elicit('What is your name?', NAME) } : {}),
        })
      },
    },
  }
}

/** Tools that send the client notifications besides their result. */
function createEvents(state) {
  const toggle = (set, value, kind) => {
    if (!set.delete(value)) set.add(value)
    state.changed(kind)
    return say('Changed.')
  }
  const log = async ({ mcpReq }) => {
    for (const message of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await mcpReq.log('info', message, 'tool')
      await delay(20)
    }
    return say('Logged.')
  }
  return {
    test_tool_with_logging: { description: 'Logs while it runs.', call: (_, context) => log(context) },
    test_logging_tool: { description: 'Logs while it runs.', call: (_, context) => log(context) },
    test_tool_with_progress: {
      description: 'Reports progress.',
      async call(_, context) {
        for (const progress of [0, 50, 100]) {
          await reportProgress(context, progress, 100)
          await delay(20)
        }
        return say('Done.')
      },
    },
    test_slow_progress: {
      description: 'Takes a while, and reports progress all the time.',
      inputSchema: object({ ms: { type: 'number' } }),
      async call({ ms }, context) {
        for (let spent = 0; spent < ms; spent += 50) {
          await reportProgress(context, spent, ms)
          await delay(50)
        }
        return say('Took its time.')
      },
    },
    test_wait: {
      description: 'Waits until it is cancelled.',
      async call(_, { mcpReq: { signal } }) {
        state.waits++
        await delay(600_000, undefined, { signal }).catch(() => state.cancelled++)
        return say('Waited.')
      },
    },
    test_state: {
      description: 'Says what has happened here.',
      call: () =>
        say(JSON.stringify({ waits: state.waits, cancelled: state.cancelled, subscriptions: state.subscriptions })),
    },
    test_reconnection: {
      description: 'Ends the stream while it runs.',
      async call(_, { http }) {
        http?.closeSSE?.()
        await delay(100)
        return say('Reconnected.')
      },
    },
    test_trigger_tool_change: {
      description: 'Adds a tool, or removes it.',
      call: () => toggle(state.tools, 'test_added', 'tools'),
    },
    test_trigger_prompt_change: {
      description: 'Adds a prompt, or removes it.',
      call: () => toggle(state.prompts, 'test_added', 'prompts'),
    },
    test_trigger_resource_change: {
      description: 'Adds a resource, or removes it.',
      call: () => toggle(state.resources, 'test://added', 'resources'),
    },
    test_touch_resource: {
      description: 'Says that a resource has changed.',
      call() {
        state.updated('test://watched-resource')
        return say('Touched.')
      },
    },
  }
}

async function reportProgress({ mcpReq }, progress, total) {
  const { _meta: { progressToken } = {} } = mcpReq
  if (progressToken === undefined) return
  const params = { progressToken, progress, ...(total === undefined ? {} : { total }), message: `Step ${progress}` }
  await mcpReq.notify({ method: 'notifications/progress', params })
}
