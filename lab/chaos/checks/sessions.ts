import { type Check, type Environment, offending } from './check.ts'

const overlaps = (whose: 'operator' | 'robot') => `
  select a.${whose}_id as whose, a.id as first, b.id as second, b.started_at, a.ended_at, a.status
  from sessions a join sessions b on b.${whose}_id = a.${whose}_id and b.id <> a.id
    and (a.started_at, a.id) < (b.started_at, b.id)
    and b.started_at < coalesce(a.ended_at, 'infinity')
  where a.status in ('ACTIVE', 'PAUSED', 'COMPLETED') and b.status in ('ACTIVE', 'PAUSED', 'COMPLETED')`

const iso = (value: unknown) => (value instanceof Date ? value.toISOString() : 'not yet')

/** No robot and no operator had two sessions at the same time. */
export const singleSession: Check = {
  name: 'one open session at a time',
  async run({ db }) {
    const found: string[] = []
    for (const whose of ['operator', 'robot'] as const) {
      const describeRow = (row: Record<string, unknown>) =>
        `${whose} ${row.whose}: session ${row.second} began at ${iso(row.started_at)}, ` +
        `session ${row.first} ended ${iso(row.ended_at)}`
      found.push(...(await offending(db, overlaps(whose), describeRow)))
    }
    return found
  },
}

interface RobotRow {
  id: string
  status: string
  connected: boolean | null
  open: boolean
}

/** Compares robot states in the database with the true ones. Repeat it until it succeeds or time is up. */
export async function wrongStatuses({
  db,
  robots,
  boards,
}: Omit<Environment, 'evidence'>): Promise<string[]> {
  const { rows } = await db.query<RobotRow>(
    `select r.id, r.status, p.connected, exists (
       select from sessions s where s.robot_id = r.id and s.status in ('ACTIVE', 'PAUSED')) as open
     from robots r left join robot_presence p on p.robot_id = r.id`,
  )
  const known = new Map(rows.map((row) => [row.id, row]))
  const wrong = robots.flatMap(({ id, connected }) => {
    const row = known.get(id)
    const due = row?.open ? 'IN_SESSION' : connected ? 'AVAILABLE' : 'OFFLINE'
    const really = `${connected ? 'connected' : 'switched off'}${row?.open ? ', in an open session' : ''}`
    if (row?.connected !== connected)
      return [`robot ${id} is ${really}; presence says connected: ${row?.connected}`]
    return row.status === due ? [] : [`robot ${id} is ${really}, and ${row.status}`]
  })
  const shown = boards.flatMap(({ who, robots: board }) =>
    [...board].flatMap(([id, status]) => {
      const due = known.get(id)?.status
      return status === due ? [] : [`${who} sees robot ${id} as ${status}; it is ${due}`]
    }),
  )
  return [...wrong, ...shown]
}

export const statusesTrue: Check = { name: "robots' statuses are true", run: wrongStatuses }
