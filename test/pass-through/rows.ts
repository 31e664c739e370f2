import { setTimeout as delay } from 'node:timers/promises'
import type { CallToolResult, Client, RequestOptions } from '@modelcontextprotocol/client'
import { countQuestions, type Era } from './peers.ts'

/** A client, and how it reaches tools. */
export interface Caller {
  readonly client: Client
  readonly era: Era
  call(name: string, options?: CallOptions): Promise<CallToolResult>
}

export interface CallOptions extends RequestOptions {
  readonly args?: Readonly<Record<string, unknown>>
  readonly meta?: Readonly<Record<string, unknown>>
}

export type Way = 'by name' | 'use_tool'

export function createCaller(client: Client, era: Era, way: Way): Caller {
  return {
    client,
    era,
    async call(name, { args = {}, meta, ...options } = {}) {
      const inner = { name, arguments: args }
      const params = way === 'use_tool' ? { name: 'use_tool', arguments: inner } : inner
      return client.callTool({ ...params, ...(meta ? { _meta: meta } : {}) }, options)
    },
  }
}

/** A feature of the protocol, as a client sees it. */
export interface Row {
  readonly feature: string
  see(caller: Caller): Promise<unknown>
  /** Why it cannot be the same for some ways to call, or for some servers of a modern client. */
  readonly notFor?: Partial<Record<Era | Way, string>>
  /** The era that both sides must have, if the other one does not have the feature. */
  readonly within?: Era
}

function calling(feature: string, tool: string, options?: CallOptions): Row {
  return see(feature, ({ call }) => call(tool, options))
}

function see(feature: string, run: Row['see'], notFor?: Row['notFor']): Row {
  return { feature, see: run, ...(notFor ? { notFor } : {}) }
}

const LEVEL = 'io.modelcontextprotocol/logLevel'
const UPDATED = 'notifications/resources/updated'

/** One row for each feature. */
export const ROWS: readonly Row[] = [
  calling('text', 'test_simple_text'),
  calling('images', 'test_image_content'),
  calling('audio', 'test_audio_content'),
  calling('embedded resources', 'test_embedded_resource'),
  calling('several kinds of content', 'test_multiple_content_types'),
  calling('resource links, annotations and metadata of results', 'test_resource_link'),
  calling('structured content', 'test_structured_content'),
  calling('isError', 'test_error_handling'),
  calling('metadata of requests', 'test_echo_meta', { meta: { 'example.com/trace': ['a', { b: 1 }] } }),
  see('error codes and data', async ({ call }) => {
    try {
      const { isError, _meta: meta } = await call('test_refusal')
      return { isError, refusal: meta?.['foldout/error'] }
    } catch (error) {
      const { code, message, data } = error as Error & { readonly code: unknown; readonly data: unknown }
      return { isError: true, refusal: { code, message: message.replace(/^MCP error -\d+: /, ''), data } }
    }
  }),
  see('progress', async ({ call }) => {
    const reports: unknown[] = []
    await call('test_tool_with_progress', { onprogress: (report) => reports.push(report) })
    return reports
  }),
  see('cancellation', async ({ call }) => {
    const getState = async (): Promise<State> => readState(await call('test_state'))
    const before = await getState()
    const abort = new AbortController()
    const waiting = call('test_wait', { signal: abort.signal }).catch(() => 'cancelled')
    await until(async () => (await getState()).waits > before.waits)
    abort.abort()
    const outcome = await waiting
    await until(async () => (await getState()).cancelled > before.cancelled)
    return outcome
  }),
  see('logging', async ({ client, era, call }) => {
    if (era === 'legacy') await client.setLoggingLevel('info')
    const logs = await hear({ client, call }, 'notifications/message', 3, () =>
      call('test_tool_with_logging', era === 'modern' ? { meta: { [LEVEL]: 'info' } } : {}),
    )
    return logs
  }),
  see('no logs below the level that a client wants', async ({ client, era, call }) => {
    if (era === 'legacy') await client.setLoggingLevel('error')
    return hear({ client, call }, 'notifications/message', 0, () =>
      call('test_tool_with_logging', era === 'modern' ? { meta: { [LEVEL]: 'error' } } : {}),
    )
  }),
  see('long lists of resources', async ({ client }) => client.listResources()),
  see('resource templates', async ({ client }) => client.listResourceTemplates()),
  see('resources', async ({ client }) =>
    Promise.all(
      ['test://static-text', 'test://static-binary', 'test://watched-resource', 'test://many/229'].map((uri) =>
        client.readResource({ uri }),
      ),
    ),
  ),
  see('resources of templates', async ({ client }) => client.readResource({ uri: 'test://template/7/data' })),
  see('resources that only a result names', async ({ client, call }) => {
    await call('test_resource_link')
    return client.readResource({ uri: 'test://unlisted' })
  }),
  see('resources that do not exist', async ({ client }) => {
    const { code, data } = await client.readResource({ uri: 'test://none' }).then(
      () => ({ code: 0, data: undefined }),
      (error: unknown) => error as { readonly code: number; readonly data: unknown },
    )
    return { code, data }
  }),
  see('subscriptions', async ({ client, era, call }) => {
    const uri = 'test://watched-resource'
    const stop = await subscribe(client, era, uri)
    const touch = (): Promise<unknown> => call('test_touch_resource')
    // Through a gateway, the server may learn of a subscription after the client was answered.
    const heard = listenFor(client, UPDATED)
    await until(async () => {
      await touch()
      return heard.length > 0
    })
    await stop()
    await until(async () => readState(await call('test_state')).subscriptions === 0)
    const later = await hear({ client, call }, UPDATED, 0, touch)
    return { update: heard[0], later }
  }),
  see('prompts', async ({ client }) => ({
    list: await client.listPrompts(),
    simple: await client.getPrompt({ name: 'test_simple_prompt' }),
    args: await client.getPrompt({ name: 'test_prompt_with_arguments', arguments: { arg1: 'a', arg2: 'b' } }),
    image: await client.getPrompt({ name: 'test_prompt_with_image' }),
    resource: await client.getPrompt({
      name: 'test_prompt_with_embedded_resource',
      arguments: { resourceUri: 'test://static-text' },
    }),
  })),
  see('prompts that ask', async ({ client }) => client.getPrompt({ name: 'test_input_required_result_prompt' })),
  see('completions', async ({ client }) => [
    await client.complete({
      ref: { type: 'ref/prompt', name: 'test_prompt_with_arguments' },
      argument: { name: 'arg1', value: 'par' },
    }),
    await client.complete({
      ref: { type: 'ref/resource', uri: 'test://template/{id}/data' },
      argument: { name: 'id', value: 'pa' },
    }),
  ]),
  calling('sampling', 'test_sampling', { args: { prompt: 'Say hello.' } }),
  calling('elicitation by form', 'test_elicitation', { args: { message: 'Who are you?' } }),
  calling('elicitation by page', 'test_elicitation_url'),
  calling('roots', 'test_input_required_result_list_roots'),
  calling('several questions at once', 'test_input_required_result_multiple_inputs'),
  calling('several rounds of questions', 'test_input_required_result_multi_round'),
  calling('questions after progress', 'test_streaming_elicitation'),
  asking('sampling', 'sampling/createMessage', {
    messages: [{ role: 'user', content: { type: 'text', text: 'Say hello.' } }],
    maxTokens: 10,
  }),
  asking('elicitation by form', 'elicitation/create', {
    message: 'Who are you?',
    requestedSchema: { type: 'object', properties: { username: { type: 'string' } } },
  }),
  asking('elicitation by page', 'elicitation/create', {
    mode: 'url',
    message: 'Go there.',
    url: 'https://example.com/',
    elicitationId: 'later-1',
  }),
  asking('roots', 'roots/list', {}),
  changing('tool', { use_tool: 'the list has use_tool in place of the tools' }),
  changing('prompt'),
  changing('resource'),
]

function changing(kind: 'tool' | 'prompt' | 'resource', notFor?: Row['notFor']): Row {
  const toggle = `test_trigger_${kind}_change`
  const watch = async ({ client, era, call }: Caller): Promise<unknown> => {
    const subscription = era === 'modern' ? await client.listen({ [`${kind}sListChanged`]: true }) : undefined
    const heard = await hear({ client, call }, `notifications/${kind}s/list_changed`, 1, () => call(toggle))
    await subscription?.close()
    // Restore the original state for the next row.
    await call(toggle)
    return heard.length > 0
  }
  return see(`list_changed of ${kind}s`, watch, notFor)
}

/** A question that comes when no call is running. */
function asking(kind: string, method: string, params: object): Row {
  const ask = async ({ client, call }: Caller): Promise<unknown> => {
    const before = countQuestions(client)
    await call('test_ask_later', { args: { method, params } })
    // No other call may run while the server asks. A gateway may know the roots without asking.
    if (method !== 'roots/list') await until(async () => countQuestions(client) > before)
    let answer: unknown
    await until(async () => {
      const { content } = await call('test_last_answer')
      answer = content[0]?.type === 'text' ? JSON.parse(content[0].text) : null
      return answer !== null
    })
    return answer
  }
  return { ...see(`${kind} outside of calls`, ask), within: 'legacy' }
}

/** What has happened at the server. */
interface State {
  readonly waits: number
  readonly cancelled: number
  readonly subscriptions: number
}

function readState({ content }: CallToolResult): State {
  const [piece] = content
  return JSON.parse(piece?.type === 'text' ? piece.text : '') as State
}

async function subscribe(client: Client, era: Era, uri: string): Promise<() => Promise<unknown>> {
  if (era === 'legacy') {
    await client.subscribeResource({ uri })
    return () => client.unsubscribeResource({ uri })
  }
  const subscription = await client.listen({ resourceSubscriptions: [uri] })
  return () => subscription.close()
}

/** The notifications of one kind that arrive while work runs, and before the answer to a later call. */
async function hear(
  { client, call }: Pick<Caller, 'client' | 'call'>,
  method: string,
  atLeast: number,
  run: () => Promise<unknown>,
): Promise<readonly unknown[]> {
  const heard = listenFor(client, method)
  await run()
  await until(async () => heard.length >= atLeast)
  await call('test_state')
  return heard
}

/** The notifications of one kind that have arrived since. */
function listenFor(client: Client, method: string): readonly unknown[] {
  const heard: unknown[] = []
  client.fallbackNotificationHandler = async (notification) => {
    if (notification.method === method) heard.push(notification.params ?? {})
  }
  return heard
}

async function until(check: () => Promise<boolean>): Promise<void> {
  for (let waited = 0; !(await check()); waited += 20) {
    if (waited > 8_000) throw new Error('It did not happen.')
    await delay(20)
  }
}
