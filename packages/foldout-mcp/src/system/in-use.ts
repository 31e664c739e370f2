/** Changes a file, on Windows again if another program has it open. Only there, that part of the library is loaded. */
export async function retryIfInUse<Value>(change: () => Promise<Value>): Promise<Value> {
  if (process.platform !== 'win32') return change()
  const { retryIfInUse: retry } = await import('foldout/node')
  return retry(change)
}
