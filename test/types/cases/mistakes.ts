// Each statement below is a mistake a user might make; messages.test.ts pins the compiler's message for it.
import * as v from 'valibot'
import * as z from 'zod'
import { createSession, defineParams, definePrompt, defineSection, defineSlice, defineTool, md, ok } from '../../../packages/foldout/src/entries/index.ts'

const params = defineParams<{ objective: string; audience: string; files: string[]; verbose: boolean; note?: string }>()
const task = defineSection({ key: 'task', title: 'T', params, template: 'Do ${objective}' })
const inferred = defineSection({ key: 'inferred', title: 'T', template: 'For ${client} at ${place}' })
const leaf = defineSection({ key: 'leaf', title: 'L', template: '' })
const outer = defineSection({ key: 'outer', title: 'T', children: [inferred, leaf] })
const prompt = definePrompt({ ns: 'x', key: 'x', sections: [task, outer], output: z.object({ answer: z.string() }) })
const values = { objective: 'o', audience: 'a', files: [], verbose: true, client: 'c', place: 'p' }
const slice = defineSlice({ name: 'cart', initial: 0, reducers: { added: (state, payload: { count: number }) => state + payload.count } })

// case: a section without a body
defineSection({ key: 'a', title: 'T', summary: 'About it' })

// case: a misspelled placeholder in a string template
defineSection({ key: 'a', title: 'T', params, template: 'Do ${objectve}' })

// case: a misspelled placeholder in md
defineSection({ key: 'a', title: 'T', params, template: md`Do ${'objectve'}` })

// case: a misspelled placeholder in a summary
defineSection({ key: 'a', title: 'T', params, template: 'x', summary: 'About ${objectiv}' })

// case: a placeholder for a list
defineSection({ key: 'a', title: 'T', params, template: 'Read ${files}' })

// case: a placeholder for a value that may be missing
defineSection({ key: 'a', title: 'T', params, template: 'Note ${note}' })

// case: a misspelled param in a selector
defineSection({ key: 'a', title: 'T', params, template: '', enabled: (own) => own.verbos })

// case: a visibility that does not exist
defineSection({ key: 'a', title: 'T', params, visibility: 'ful' })

// case: a selector that returns no visibility
defineSection({ key: 'a', title: 'T', visibility: () => 'open' })

// case: a custom renderer that returns no text
defineSection({ key: 'a', title: 'T', render: () => 5 })

// case: a value missing at bind
prompt.bind({ objective: 'o', audience: 'a', files: [], verbose: true, client: 'c' })

// case: a value too many at bind
prompt.bind({ ...values, plce: 'x' })

// case: a value too many at bind, written out
prompt.bind({ objective: 'o', audience: 'a', files: [], verbose: true, client: 'c', place: 'p', plce: 'x' })

// case: a value of the wrong type at bind
prompt.bind({ ...values, objective: 1 })

// case: no values at bind
prompt.bind()

// case: two sections that disagree on a value
definePrompt({ ns: 'x', key: 'x', sections: [task, defineSection({ key: 'b', title: 'B', params: z.object({ objective: z.number() }), template: '${objective}' })] })

// case: the visibility of a section that does not exist
prompt.bind(values).render({ visibility: { 'outer.inferred': 'full', 'outer.lef': 'full' } })

// case: a field of the output that does not exist
prompt.bind(values).render().output!.parse('{}').answr

// case: a tool that reads a field its params do not have
defineTool({ name: 'z', description: '', params: z.object({ a: z.string() }), execute: ({ b }) => ok(b) })

// case: a tool that returns no result
defineTool({ name: 'z', description: '', params: z.object({ a: z.string() }), execute: ({ a }) => a })

// case: a tool whose schema has no JSON Schema
defineTool({ name: 'v', description: '', params: v.object({ a: v.string() }), execute: () => ok('') })

// case: an example of a tool that does not fit its params
defineTool({ name: 'z', description: '', params: z.object({ a: z.string() }), examples: [{ description: 'd', input: { a: 1 }, output: '' }], execute: () => ok('') })

// case: an event with a payload of the wrong type
createSession({ slices: [slice] }).dispatch(slice.events.added({ count: 'one' }))

// case: an event without its payload
createSession({ slices: [slice] }).dispatch(slice.events.added())
