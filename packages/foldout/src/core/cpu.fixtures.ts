/**
 * Starts a clock that counts the processor time of this process, in milliseconds. Work of other processes does not
 * count.
 */
export function startCpuClock(): () => number {
  const begin = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(begin)
    return (user + system) / 1_000
  }
}
