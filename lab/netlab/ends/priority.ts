import { setPriority } from 'node:os'

const NICENESS = -10

/** Raises the priority of this process: it represents other machines, which do not wait for the servers of the lab. */
export function raisePriority(): void {
  try {
    setPriority(NICENESS)
  } catch {
    // Only a privileged process may have a higher priority. The report shows how long the lab paused.
  }
}
