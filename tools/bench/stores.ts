import type { Client } from 'pg'

/** The lab's own PostgreSQL and Redis, as processes. */
export interface Stores {
  /** Pauses both: connections stay open and nothing is answered, as by a machine that hangs. */
  block(): Promise<void>
  /** Resumes both. Safe to call at any time, and more than once. */
  release(): void
}

/** Sends signals to the processes that the lab has started, including PostgreSQL's backends. */
export function createStores(db: Client, redisPid: number | undefined): Stores {
  let held: number[] = []
  const signal = (name: 'SIGSTOP' | 'SIGCONT') => {
    for (const pid of held) {
      try {
        process.kill(pid, name)
      } catch {
        // The backend has ended.
      }
    }
  }
  return {
    async block() {
      // The first line of the file is the process that starts all others: paused first, so that it starts no more.
      const { rows } = await db.query<{ pid: number }>(
        `select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int as pid
         union all select pid from pg_stat_activity`,
      )
      held = [...rows.map((row) => row.pid), ...(redisPid === undefined ? [] : [redisPid])]
      signal('SIGSTOP')
    },
    release() {
      signal('SIGCONT')
      held = []
    },
  }
}
