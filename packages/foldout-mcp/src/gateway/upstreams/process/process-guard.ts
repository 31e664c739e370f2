import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'

/**
 * Keeps track of started processes, and ends them with all their children if this process dies without doing so itself,
 * even by SIGKILL.
 */
export interface ProcessGuard {
  /**
   * Creates an environment variable that marks a process and everything it starts, so that these are found even if they leave its
   * group and tree, or if this process is killed while starting it. Empty on Windows.
   */
  createMarker(): Readonly<Record<string, string>>
  /** Starts the guard, so that it knows the next process from its first moment. */
  start(): void
  add(pid: number): void
  drop(pid: number): void
  /** Removes a folder, too, if this process dies without doing so itself. */
  readonly addFolder: (folder: string) => void
}

/**
 * Waits for the end of its input, which comes when the writing process ends, however it ends. Servers are
 * often started through `npx` or a shell, and browsers leave the group of their parent, so whole trees are ended. A process that
 * was being started holds that input open until its own program runs, with the variable by which it is found.
 */
const SCRIPT = `
trap '' INT TERM HUP
pids=''
folder=''
while read -r order pid; do
  case $order in
    add) pids="$pids $pid" ;;
    folder) folder=$pid ;;
    drop)
      kept=''
      for known in $pids; do [ "$known" = "$pid" ] || kept="$kept $known"; done
      pids=$kept
      ;;
  esac
done
[ -n "$folder" ] && rm -rf -- "$folder"
if [ -d /proc/self ]; then marked=$(grep -l "$1" /proc/[0-9]*/environ 2>/dev/null | cut -d / -f 3)
else marked=$(ps -A -E -ww -o pid=,command= 2>/dev/null | grep "$1" | awk -v own="$$" '$1 != own && !/grep/ { print $1 }'); fi
pids="$pids $(echo $marked)"
[ -z "\${pids# }" ] && exit
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
  const mark = randomUUID()
  const start = (): ChildProcess => (child ??= startGuard(mark, () => (child = undefined)))
  // Windows has no process groups; there, a server ends when its input does.
  if (process.platform === 'win32')
    return { createMarker: () => ({}), start: () => {}, add: () => {}, drop: () => {}, addFolder: () => {} }
  let started = 0
  // The guard looks for what all of them begin with.
  const createMarker = (): Readonly<Record<string, string>> => ({ FOLDOUT_GUARD: `${mark}/${++started}/` })
  const tell = (order: 'add' | 'drop' | 'folder', what: number | string): void =>
    void start().stdin?.write(`${order} ${what}\n`)
  return {
    createMarker,
    start,
    add: (pid) => tell('add', pid),
    drop: (pid) => tell('drop', pid),
    // An order is one line.
    addFolder: (folder) => {
      if (folder.includes('\n')) return undefined
      return tell('folder', folder)
    },
  }
}

function startGuard(mark: string, onEnd: () => void): ChildProcess {
  // Loaded with the first server.
  const { spawn } = process.getBuiltinModule('node:child_process')
  // In its own group, so that a signal to this process in a terminal does not end the guard.
  const child = spawn('/bin/sh', ['-c', SCRIPT, 'sh', `FOLDOUT_GUARD=${mark}`], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  child.on('error', onEnd)
  child.on('exit', onEnd)
  child.stdin.on('error', () => undefined)
  child.unref()
  ;(child.stdin as unknown as { unref?(): void }).unref?.()
  return child
}
