import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

/** Where servers are installed, which is not on everybody's PATH. */
const SYSTEM_FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/opt/homebrew/sbin']
/** Linux tells processor time in these, whatever the kernel's own tick is. */
const TICKS_PER_SECOND = 100
/** Fields of /proc/<pid>/stat, counted from the one after the program's name. */
const USER_TICKS = 11
const SYSTEM_TICKS = 12

/** The full path of a program that is installed here, or undefined. */
export function findProgram(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...SYSTEM_FOLDERS]
  return folders.map((folder) => join(folder, name)).find((file) => existsSync(file))
}

/** What a process of another make uses, as Linux tells it; undefined elsewhere. CPU time to 10 ms. */
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
