/** Returns the milliseconds of processor time that `work` takes in this process. A busy machine does not prolong them. */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}
