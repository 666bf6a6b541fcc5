import { execFile } from 'node:child_process'
import { readlinkSync } from 'node:fs'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The lowest of Linux's real-time priorities: above every ordinary process, below every other real-time process. */
const PRIORITY = 1
const LIMIT_MS = 5_000

/**
 * Lets the calling thread run before all ordinary threads of the machine, by Linux's real-time scheduling (`SCHED_RR`). A command
 * then does not wait until another process has used up its time slice. Threads and processes that the thread starts are ordinary
 * ones. Node.js cannot set the scheduling of a thread, so `chrt` of util-linux does.
 * @throws Error if the system has no such scheduling, or does not permit it (capability `SYS_NICE`)
 */
export async function useRealTimeScheduling(): Promise<void> {
  if (process.platform !== 'linux') throw new Error('Real-time scheduling needs Linux.')
  const thread = readlinkSync('/proc/thread-self').split('/').at(-1) as string
  const args = ['--rr', '--reset-on-fork', '--pid', String(PRIORITY), thread]
  await run('chrt', args, { timeout: LIMIT_MS })
}
