import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/** Fields of /proc/<pid>/stat, counted from the field after the program's name. */
const [STATE, PARENT, BEGAN] = [0, 1, 19]

/** Sends a signal to a process, or to a group when negative; returns false when it does not exist. */
export function sendTo(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

/** Returns whether a process runs. A zombie does not. */
export function isThere(pid: number): boolean {
  return sendTo(pid, 0) && statOf(pid)?.[STATE] !== 'Z'
}

/** Returns the start time of a process in the system's ticks; undefined where the system does not report it. */
export const beganAt = (pid: number): string | undefined => statOf(pid)?.[BEGAN]

/** Returns the children of a process. */
export function childrenOf(pid: number): number[] {
  return withParents()
    .filter(([, parent]) => parent === pid)
    .map(([child]) => child)
}

function withParents(): [number, number][] {
  if (process.platform !== 'linux') {
    const list = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    return list.split('\n').map((line) => line.trim().split(/\s+/).map(Number) as [number, number])
  }
  // Some Linux systems lack ps.
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), Number(statOf(Number(name))?.[PARENT])])
}

/** Returns undefined where there is no /proc, and for a process that has ended. */
function statOf(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}
