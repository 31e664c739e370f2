import { spawn, type ChildProcess } from 'node:child_process'

/**
 * Remembers which processes were started, and ends them and all that they started if this process dies without doing it itself,
 * even by SIGKILL.
 */
export interface ProcessGuard {
  add(pid: number): void
  drop(pid: number): void
}

/**
 * Waits for the end of its input, which comes with the end of the process that writes there, whatever ends it. Servers are
 * often started through `npx` or a shell, and browsers leave the group of their parent, so whole trees are ended.
 */
const SCRIPT = `
trap '' INT TERM HUP
pids=''
while read -r order pid; do
  case $order in
    add) pids="$pids $pid" ;;
    drop)
      kept=''
      for known in $pids; do [ "$known" = "$pid" ] || kept="$kept $known"; done
      pids=$kept
      ;;
  esac
done
[ -z "$pids" ] && exit
trees=$(ps -A -o pid=,ppid= | awk -v roots="$pids" '
  { parent[$1] = $2 }
  END {
    n = split(roots, list, " ")
    for (i = 1; i <= n; i++) found[list[i]] = 1
    do {
      more = 0
      for (pid in parent) if (!(pid in found) && (parent[pid] in found)) { found[pid] = 1; more = 1 }
    } while (more)
    for (pid in found) print pid
  }')
end() {
  for pid in $pids; do kill -s "$1" -- "-$pid" 2>/dev/null; done
  for pid in $trees; do kill -s "$1" "$pid" 2>/dev/null; done
}
end TERM
sleep 1
end KILL
`

/** The guard of this process, which is started with the first server. */
export function createProcessGuard(): ProcessGuard {
  let child: ChildProcess | undefined
  const tell = (order: 'add' | 'drop', pid: number): void => {
    // Windows has no groups of processes; there a server ends when its input does.
    if (process.platform === 'win32') return
    child ??= startGuard(() => (child = undefined))
    child.stdin?.write(`${order} ${pid}\n`)
  }
  return { add: (pid) => tell('add', pid), drop: (pid) => tell('drop', pid) }
}

function startGuard(onEnd: () => void): ChildProcess {
  // A group of its own, so that what ends this process in a terminal does not end the guard.
  const child = spawn('/bin/sh', ['-c', SCRIPT], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  child.on('error', onEnd)
  child.on('exit', onEnd)
  child.stdin.on('error', () => undefined)
  child.unref()
  ;(child.stdin as unknown as { unref?(): void }).unref?.()
  return child
}
