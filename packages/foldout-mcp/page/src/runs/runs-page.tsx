import { useEffect } from 'preact/hooks'
import { changes, hello, isRecorded } from '../base/connection.ts'
import { Empty, Failure } from '../parts/notes.tsx'
import { getAddress, route } from '../base/route.ts'
import { ClientDetail } from './client-detail.tsx'
import { Comparison } from './comparison.tsx'
import { RunDetail } from './run-detail.tsx'
import { RunList } from './run-list.tsx'
import { selected } from './selection.ts'
import { isComparing, problem, refreshList, refreshRun, run, runProblem, runs } from './state.ts'

/** The run view: a list of runs and of clients of a gateway, and one of them in full. */
export function RunsPage() {
  const version = changes.value.runs
  useEffect(() => void refreshList(), [version])
  const [asked, other] = route.value.rest
  const id = asked ?? selected.value[0]?.id ?? runs.value?.[0]?.id
  useEffect(() => {
    isComparing.value = false
  }, [asked, other])
  useEffect(() => {
    if (id !== undefined) void refreshRun(id)
  }, [id, version])
  if (problem.value !== undefined && !runs.value)
    return <Failure message={problem.value} onRetry={() => void refreshList()} />
  if (runs.value === undefined) return <Empty title="Reading the runs">One moment.</Empty>
  if (runs.value.length === 0) {
    if (hello.value?.views.includes('catalog')) return <NoClients />
    return <NoRuns />
  }
  return (
    <div class={isRecorded ? 'runs alone' : 'runs'}>
      {!isRecorded && <RunList chosen={id} other={other} />}
      {id !== undefined && other !== undefined ? (
        <Comparison key={`${id} ${other}`} ids={[id, other]} />
      ) : (
        <Detail id={id} />
      )}
    </div>
  )
}

function Detail({ id }: { readonly id: string | undefined }) {
  const shown = run.value
  if (shown?.id !== id || !shown) {
    if (runProblem.value === undefined) return <Empty title="Reading the run">One moment.</Empty>
    return <Failure message={runProblem.value} />
  }
  if (shown.kind === 'client') return <ClientDetail shown={shown} key={shown.id} />
  return <RunDetail shown={shown} key={shown.id} />
}

/** How to record a run, with the address of this page in it. */
function NoRuns() {
  return (
    <div class="empty">
      <h2>No runs yet</h2>
      <p>Add one line to your agent. The run appears here while it goes on.</p>
      <Sample />
    </div>
  )
}

/** A gateway has clients, too. */
function NoClients() {
  return (
    <div class="empty">
      <h2>No runs yet</h2>
      <p>What clients of a running gateway do appears here as it happens: foldout serve --inspect.</p>
      <p>So do runs of your agent, if you add one line to it:</p>
      <Sample />
    </div>
  )
}

function Sample() {
  return (
    <pre class="code sample" tabIndex={0}>
      {`import { recordRun } from 'foldout/node'\n\nawait runAgent(prompt, {\n  adapter,\n  onEvent: recordRun({ to: '${getAddress()}' }).onEvent,\n})`}
    </pre>
  )
}
