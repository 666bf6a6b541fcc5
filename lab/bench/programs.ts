import { readFile } from 'node:fs/promises'

/** Linux reports processor time in this unit, independent of the kernel's own tick. */
const TICKS_PER_SECOND = 100
/** Fields of /proc/<pid>/stat, counted from the field after the program's name. */
const USER_TICKS = 11
const SYSTEM_TICKS = 12

/** Returns the usage of any process, as Linux reports it; undefined elsewhere. CPU time to 10 ms. */
export async function processUsage(pid: number): Promise<{ cpuUs: number; rssBytes: number } | undefined> {
  try {
    const [stat, status] = await Promise.all(
      ['stat', 'status'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8')),
    )
    const fields = (stat ?? '').slice((stat ?? '').lastIndexOf(')') + 2).split(' ')
    const ticks = Number(fields[USER_TICKS]) + Number(fields[SYSTEM_TICKS])
    const rssKib = Number(/^VmRSS:\s+(\d+) kB/m.exec(status ?? '')?.[1])
    return { cpuUs: (ticks / TICKS_PER_SECOND) * 1e6, rssBytes: rssKib * 1_024 }
  } catch {
    return undefined
  }
}
