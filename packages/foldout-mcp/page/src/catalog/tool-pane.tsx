import { useState } from 'preact/hooks'
import type { CallView, ToolDetail } from '../../../src/inspector/protocol/protocol.ts'
import { call } from '../base/connection.ts'
import { formatNumber, toLabel } from '../base/format.ts'
import { Exact } from '../parts/exact.tsx'
import { Empty } from '../parts/notes.tsx'
import { getFields, readArguments, readObject, type Field } from './arguments.ts'
import { chosen, detail } from './state.ts'

/** One tool: what a model reads about it, and a form to call it. */
export function ToolPane() {
  const tool = detail.value
  if (!tool || tool.name !== chosen.value)
    return <Empty title="No tool chosen">Choose one from the list or the map.</Empty>
  return (
    <article class="tool" key={tool.name}>
      <header>
        <h2>
          <code>{toLabel(tool.name)}</code>
        </h2>
        <p class="chips">
          <span class="chip">{toLabel(tool.server)}</span>
          <span class="chip">{formatNumber(tool.tokens)} tokens</span>
          {tool.isReadOnly && <span class="chip good">only reads</span>}
          {tool.isDestructive && <span class="chip fold">may change things</span>}
        </p>
      </header>
      <div class="tool-text" tabIndex={0}>
        {tool.description === '' ? 'It has no description.' : <Exact text={tool.description} />}
      </div>
      <pre class="code" tabIndex={0}>
        <Exact text={tool.signature} />
      </pre>
      <CallForm tool={tool} />
      <details>
        <summary>Input schema</summary>
        <pre class="code" tabIndex={0}>
          {JSON.stringify(tool.inputSchema, null, 2)}
        </pre>
      </details>
    </article>
  )
}

type Outcome =
  | { readonly type: 'running' }
  | { readonly type: 'failed'; readonly message: string }
  | ({ readonly type: 'done' } & CallView)

function CallForm({ tool }: { readonly tool: ToolDetail }) {
  const fields = getFields(tool.inputSchema)
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({})
  /** The arguments as a whole, if they are written as JSON. */
  const [whole, setWhole] = useState<string | undefined>(undefined)
  const [outcome, setOutcome] = useState<Outcome | undefined>(undefined)
  const read = () => {
    if (whole === undefined) return readArguments(fields, texts)
    return readObject(whole)
  }
  const toggle = (): void => {
    try {
      setWhole(whole === undefined ? JSON.stringify(read(), null, 2) : undefined)
      setOutcome(undefined)
    } catch (error) {
      setOutcome({ type: 'failed', message: (error as Error).message })
    }
  }
  const run = async (): Promise<void> => {
    setOutcome({ type: 'running' })
    try {
      const args = read()
      setOutcome({ type: 'done', ...(await call('catalog/call', { name: tool.name, arguments: args })) })
    } catch (error) {
      setOutcome({ type: 'failed', message: (error as Error).message })
    }
  }
  return (
    <form
      class="call"
      aria-label={`Call ${tool.name}`}
      onSubmit={(event) => {
        event.preventDefault()
        void run()
      }}
    >
      <h3>Call it</h3>
      {whole === undefined && fields.length === 0 && <p class="note">It names no arguments.</p>}
      {whole === undefined &&
        fields.map((field) => (
          <FieldInput
            key={field.name}
            field={field}
            text={texts[field.name] ?? ''}
            onText={(text) => setTexts({ ...texts, [field.name]: text })}
          />
        ))}
      {whole !== undefined && (
        <div class="field">
          <label for="arguments">Arguments as JSON</label>
          <textarea
            id="arguments"
            rows={8}
            spellcheck={false}
            value={whole}
            onInput={({ currentTarget }) => setWhole(currentTarget.value)}
          />
        </div>
      )}
      <p class="call-actions">
        <button type="submit" class="primary" disabled={outcome?.type === 'running'}>
          {outcome?.type === 'running' ? 'Calling' : 'Call'}
        </button>
        <button type="button" aria-pressed={whole !== undefined} onClick={toggle}>
          As JSON
        </button>
        {tool.isDestructive && <span class="note">Its server does not say that it only reads.</span>}
      </p>
      <Result outcome={outcome} />
    </form>
  )
}

const KINDS: Readonly<Record<Field['kind'], string>> = {
  text: 'text',
  number: 'number',
  boolean: 'true or false',
  json: 'JSON',
}

interface FieldProps {
  readonly field: Field
  readonly text: string
  onText(text: string): void
}

function FieldInput({ field, text, onText }: FieldProps) {
  const { name, kind, choices, description, usual, isRequired } = field
  const hint = usual === '' ? undefined : `usually ${toLabel(usual)}`
  const id = `argument-${name}`
  const common = {
    id,
    value: text,
    'aria-describedby': description === '' ? undefined : `${id}-note`,
    onInput: (event: { readonly currentTarget: { readonly value: string } }) => onText(event.currentTarget.value),
  }
  return (
    <div class="field">
      <label for={id}>
        <code>{toLabel(name)}</code>{' '}
        <span class="note">
          {KINDS[kind]}
          {isRequired && ', required'}
        </span>
      </label>
      {choices && (
        <select {...common}>
          <option value="">(left out{hint !== undefined && `, ${hint}`})</option>
          {choices.map((choice) => (
            <option key={choice} value={choice}>
              {choice}
            </option>
          ))}
        </select>
      )}
      {!choices && kind === 'json' && <textarea {...common} rows={3} spellcheck={false} placeholder={hint ?? 'JSON'} />}
      {!choices && kind !== 'json' && (
        <input {...common} type="text" placeholder={hint} inputMode={kind === 'number' ? 'decimal' : 'text'} />
      )}
      {description !== '' && (
        <p class="note" id={`${id}-note`}>
          <Exact text={description} />
        </p>
      )}
    </div>
  )
}

function Result({ outcome }: { readonly outcome: Outcome | undefined }) {
  return (
    <div class="result" role="status">
      {outcome?.type === 'failed' && <p class="chip bad">{outcome.message}</p>}
      {outcome?.type === 'done' && (
        <>
          <p>
            <span class={`chip ${outcome.isError ? 'bad' : 'good'}`}>{outcome.isError ? 'failed' : 'worked'}</span>{' '}
            <span class="note">in {formatNumber(outcome.durationMs)} ms</span>
          </p>
          {outcome.parts.map((part, i) => (
            <pre key={i} class="code" tabIndex={0}>
              <Exact text={part} />
            </pre>
          ))}
          {outcome.structured !== undefined && (
            <details>
              <summary>Structured content</summary>
              <pre class="code" tabIndex={0}>
                <Exact text={outcome.structured} />
              </pre>
            </details>
          )}
        </>
      )}
    </div>
  )
}
