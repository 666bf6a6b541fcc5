import { readFileSync } from 'node:fs'
import { cpus, release, totalmem, type } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type { Lab } from './lab.ts'

const LOAD_SAMPLE_MS = 500
/** Share of the whole machine that other programs may use before a measurement counts as disturbed. */
const QUIET_SHARE = 0.1
/** Files that a server opens in addition to its robots' sockets. */
const OTHER_OPEN_FILES = 500

/** Returns lines that describe the machine of the figures. */
export function describeMachine(lab: Lab): string[] {
  const processors = cpus()
  return [
    `${processors[0]?.model.trim() ?? 'unknown CPU'}, ${processors.length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB`,
    `${type()} ${release()}, Node ${process.versions.node}, PostgreSQL ${lab.postgresVersion}`,
  ]
}

/** Returns how many robots one process has files for. Node raises the soft limit, so the hard one counts. */
export function robotsPerProcess(): number {
  try {
    const limit = /^Max open files\s+\S+\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return limit ? Number(limit) - OTHER_OPEN_FILES : Number.POSITIVE_INFINITY
  } catch {
    return Number.POSITIVE_INFINITY // not Linux: an error of the system will report it
  }
}

/** Returns how much of the machine is busy right now, 0 to 1. */
async function busyShare(): Promise<number> {
  const before = processorTimes()
  await delay(LOAD_SAMPLE_MS)
  const after = processorTimes()
  return 1 - (after.idleMs - before.idleMs) / (after.totalMs - before.totalMs)
}

function processorTimes(): { idleMs: number; totalMs: number } {
  let idleMs = 0
  let totalMs = 0
  for (const { times } of cpus()) {
    idleMs += times.idle
    totalMs += times.user + times.nice + times.sys + times.irq + times.idle
  }
  return { idleMs, totalMs }
}

/**
 * Waits, within a limit, until other programs use little of the machine. Returns how busy it still was, which qualifies
 * the next measurement.
 */
export async function waitForQuiet(limitMs: number): Promise<number> {
  const untilMs = performance.now() + limitMs
  for (;;) {
    const busy = await busyShare()
    if (busy <= QUIET_SHARE || performance.now() >= untilMs) return busy
  }
}
