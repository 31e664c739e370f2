// Tools of the full server that ask after they have answered. Only clients before 2026-07-28 can be asked then.
import { setTimeout as delay } from 'node:timers/promises'

const say = (text) => ({ content: [{ type: 'text', text }] })

async function askLater({ method, params = {} }, server, state) {
  await delay(100)
  state.answer = await server.request({ method, params }).catch(({ code, message }) => ({ code, message }))
}

export function createLaterTools(state) {
  return {
    test_ask_later: {
      description: 'Asks a question when no call is running.',
      inputSchema: { type: 'object', properties: { method: { type: 'string' }, params: { type: 'object' } } },
      call(args, _, { server }) {
        state.answer = undefined
        void askLater(args, server, state)
        return say('Soon.')
      },
    },
    test_last_answer: {
      description: 'Says what the last of these questions was answered with.',
      call: () => say(JSON.stringify(state.answer ?? null)),
    },
  }
}
