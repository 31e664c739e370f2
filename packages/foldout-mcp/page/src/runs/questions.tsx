import { useState } from 'preact/hooks'
import type { RunFork, RunView, WhyNot } from '../../../src/inspector/protocol/protocol.ts'
import { call } from '../base/connection.ts'
import { CopyButton } from '../parts/copy.tsx'
import { Exact } from '../parts/exact.tsx'
import { Failure } from '../parts/notes.tsx'
import { chosenRequest } from './state.ts'

/** Why a tool was not offered in a request, and a new run from there. */
export function Questions({ shown }: { readonly shown: RunView }) {
  const [tool, setTool] = useState('')
  const [why, setWhy] = useState<WhyNot | undefined>(undefined)
  const [fork, setFork] = useState<RunFork | undefined>(undefined)
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const request = Math.min(chosenRequest.value, Math.max(1, shown.requests))
  const attempt = (work: Promise<void>): void => {
    setProblem(undefined)
    work.catch((error: Error) => setProblem(error.message))
  }
  const ask = async (): Promise<void> => setWhy(await call('runs/why', { id: shown.id, request, tool }))
  const forkHere = async (): Promise<void> => setFork(await call('runs/fork', { id: shown.id, request }))
  return (
    <div class="questions">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          attempt(ask())
        }}
      >
        <h2>Why was a tool not offered?</h2>
        <div class="asking">
          <div class="field">
            <label for="request">Request</label>
            <input
              id="request"
              type="number"
              min={1}
              max={Math.max(1, shown.requests)}
              value={request}
              onInput={({ currentTarget }) => (chosenRequest.value = Math.max(1, Number(currentTarget.value) || 1))}
            />
          </div>
          <div class="field">
            <label for="why-tool">Tool</label>
            <input
              id="why-tool"
              list="why-tools"
              value={tool}
              onInput={({ currentTarget }) => setTool(currentTarget.value)}
            />
            <datalist id="why-tools">
              {shown.tools.slice(0, 500).map((name) => (
                <option key={name} value={name} />
              ))}
            </datalist>
          </div>
          <button type="submit" class="primary" disabled={tool.trim() === ''}>
            Explain
          </button>
        </div>
        <p role="status" class={`answer${why?.isOffered ? ' offered' : ''}`}>
          {why && <Exact text={why.reason} />}
        </p>
      </form>
      <section aria-label="Fork">
        <h2>Fork from request {request}</h2>
        <p class="note">
          A new run with its own id, which continues as if request {request} had not been answered. Approvals of this
          run do not count in it.
        </p>
        <p class="call-actions">
          <button type="button" onClick={() => attempt(forkHere())} disabled={shown.requests === 0}>
            Fork
          </button>
          {fork && <CopyButton text={fork.json} label="Copy the state" />}
        </p>
        {fork && (
          <pre class="code" tabIndex={0}>
            {`// ${fork.id}\nconst fork = JSON.parse(await readFile('fork.json', 'utf8'))\nawait runAgent(prompt, { adapter, ...fork })`}
          </pre>
        )}
      </section>
      {problem !== undefined && <Failure message={problem} />}
    </div>
  )
}
