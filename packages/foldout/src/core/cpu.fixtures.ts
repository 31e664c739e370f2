/** Starts a clock that counts the processor time of this process, in milliseconds. Other work of the machine does not add to it. */
export function startCpuClock(): () => number {
  const begin = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(begin)
    return (user + system) / 1_000
  }
}
