import type { Client } from 'pg'

/** The lab's own PostgreSQL and Redis, as processes. */
export interface Stores {
  /** Holds both up: connections stay open and nothing is answered, as by a machine that hangs. */
  block(): Promise<void>
  /** Lets them go on. Safe to call at any time, and more than once. */
  release(): void
}

/** Works by signals to the very processes that the lab has started; PostgreSQL's backends are processes too. */
export function createStores(db: Client, redisPid: number | undefined): Stores {
  let held: number[] = []
  const signal = (name: 'SIGSTOP' | 'SIGCONT') => {
    for (const pid of held) {
      try {
        process.kill(pid, name)
      } catch {
        // A backend that has ended meanwhile.
      }
    }
  }
  return {
    async block() {
      // The first line of the file is the process that begins all others: held first, so that none begins meanwhile.
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
