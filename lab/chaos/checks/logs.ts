import { lineOf } from '../evidence.ts'
import { type Check, type Environment, offending } from './check.ts'

/** Numbers of a log are 1 to `event_seq`, each once; chat entries and messages correspond. */
export const logsGapless: Check = {
  name: 'logs have no gap and no duplicate',
  run: async ({ db }) => [
    ...(await offending(
      db,
      `select s.id, s.event_seq, count(e.seq) as entries, count(distinct e.seq) as numbers,
         coalesce(min(e.seq), 0) as first, coalesce(max(e.seq), 0) as last
       from sessions s left join session_events e on e.session_id = s.id
       group by s.id
       having count(e.seq) <> s.event_seq or count(distinct e.seq) <> s.event_seq
         or coalesce(min(e.seq), 0) <> 1 or coalesce(max(e.seq), 0) <> s.event_seq`,
      (row) =>
        `session ${row.id} counts ${row.event_seq} and has ${row.entries} entries ` +
        `of ${row.numbers} numbers, ${row.first} to ${row.last}`,
    )),
    ...(await offending(
      db,
      `select coalesce(m.session_id, e.session_id) as session_id, coalesce(m.seq, e.seq) as seq, m.id
       from messages m full join (select * from session_events where type = 'chat.message') e
         on e.session_id = m.session_id and e.seq = m.seq and e.data ->> 'message_id' = m.id::text
       where m.id is null or e.seq is null`,
      (row) =>
        `entry ${row.seq} of session ${row.session_id}: ${row.id ? 'a message without' : 'no message of'} its entry`,
    )),
  ],
}

interface EntryRow {
  session_id: string
  seq: number
  type: string
  at: Date
  data: Record<string, unknown>
}

async function logLines(db: Environment['db']): Promise<Map<string, string[]>> {
  const { rows } = await db.query<EntryRow>('select * from session_events order by session_id, seq')
  const logs = new Map<string, string[]>()
  for (const { session_id: sessionId, seq, type, at, data } of rows) {
    const lines = logs.get(sessionId) ?? []
    lines.push(lineOf({ seq, type, at: at.toISOString(), data: { ...data, id: data.message_id } }))
    logs.set(sessionId, lines)
  }
  return logs
}

/** Every observer received the log: all of it, or its beginning if the observer left. */
export const viewsEqualLogs: Check = {
  name: "every observer's view equals the log",
  async run({ db, evidence }) {
    const logs = await logLines(db)
    return evidence.views.flatMap(({ who, sessionId, lines, ended }) => {
      const log = logs.get(sessionId) ?? []
      const at = lines.findIndex((line, index) => line !== log[index])
      if (at >= 0)
        return [`${who} received "${lines[at]}" of session ${sessionId}, whose log says "${log[at]}"`]
      if (ended || lines.length === log.length) return []
      return [`${who} received ${lines.length} of the ${log.length} entries of session ${sessionId}`]
    })
  },
}

/** Each user's notifications are numbered without a gap, and all of them arrived. */
export const notificationsComplete: Check = {
  name: 'every notification arrived',
  async run({ db, evidence }) {
    const { rows } = await db.query<{ id: string; notification_seq: number; kept: string }>(
      `select u.id, u.notification_seq, (select count(*) from notifications n where n.user_id = u.id) as kept
       from users u`,
    )
    const users = new Map(rows.map((row) => [row.id, row]))
    return evidence.notificationLogs.flatMap(({ who, userId, received }) => {
      const user = users.get(userId)
      const sent = user?.notification_seq ?? 0
      if (Number(user?.kept ?? 0) !== sent)
        return [`${who} counts ${sent} notifications and has ${user?.kept}`]
      return received === sent ? [] : [`${who} received ${received} of ${sent} notifications`]
    })
  },
}
