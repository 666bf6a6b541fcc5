import type { RequestedStart } from '../evidence.ts'
import type { Check, Environment } from './check.ts'

interface MessageRow {
  id: string
  session_id: string
  sender_id: string
  seq: number
  body: string
}

/** Acknowledged messages exist as they were acknowledged, once; every message has a sender among the actors. */
export const chatOnce: Check = {
  name: 'acknowledged chat messages are stored once',
  async run({ db, evidence }) {
    const { rows } = await db.query<MessageRow>('select id, session_id, sender_id, seq, body from messages')
    const byBody = Map.groupBy(rows, (row) => row.body)
    const wrong: string[] = []
    for (const { body, sessionId, senderId, answer } of evidence.messages) {
      const found = byBody.get(body) ?? []
      byBody.delete(body)
      const what = `"${body}" in session ${sessionId}`
      if (found.length > 1) wrong.push(`${what} is stored ${found.length} times`)
      if (answer !== null && found.length === 0) wrong.push(`${what} was acknowledged and is not stored`)
      const row = found[0]
      if (row === undefined) continue
      if (row.session_id !== sessionId || row.sender_id !== senderId)
        wrong.push(`${what} is stored in session ${row.session_id}, sent by ${row.sender_id}`)
      if (answer !== null && answer !== 'kept' && (row.id !== answer.id || row.seq !== answer.seq))
        wrong.push(
          `${what} was acknowledged as ${answer.id}, entry ${answer.seq}, and is ${row.id}, entry ${row.seq}`,
        )
    }
    for (const [body, found] of byBody)
      wrong.push(`"${body}" in session ${found[0]?.session_id} was sent by no actor`)
    return wrong
  },
}

interface StartRow {
  id: string
  operator_id: string
  robot_id: string
}

export const startsOnce: Check = {
  name: 'acknowledged starts are stored once',
  async run({ db, evidence }) {
    const { rows } = await db.query<StartRow>('select id, operator_id, robot_id from sessions')
    const left = new Map(rows.map((row) => [row.id, row]))
    const wrong: string[] = []
    const unnamed: RequestedStart[] = []
    for (const start of evidence.starts) {
      if (start.sessionId === null || start.sessionId === 'kept') {
        unnamed.push(start)
        continue
      }
      const row = left.get(start.sessionId)
      left.delete(start.sessionId)
      const whose = `${start.operatorId} on robot ${start.robotId}`
      if (!row)
        wrong.push(
          `session ${start.sessionId} of ${whose} was acknowledged and is not stored, or was acknowledged twice`,
        )
      else if (row.operator_id !== start.operatorId || row.robot_id !== start.robotId)
        wrong.push(
          `session ${row.id}, acknowledged to ${whose}, is that of ${row.operator_id} on ${row.robot_id}`,
        )
    }
    return [...wrong, ...unaccounted(unnamed, [...left.values()])]
  },
}

/** Matches sessions with starts of unknown session: each explains at most one, a confirmed start exactly one. */
function unaccounted(unnamed: readonly RequestedStart[], rows: readonly StartRow[]): string[] {
  const location = (operatorId: string, robotId: string) => `${operatorId} on robot ${robotId}`
  const found = Map.groupBy(rows, (row) => location(row.operator_id, row.robot_id))
  const requested = Map.groupBy(unnamed, (start) => location(start.operatorId, start.robotId))
  return [...new Set([...found.keys(), ...requested.keys()])].flatMap((where) => {
    const there = found.get(where)?.length ?? 0
    const starts = requested.get(where) ?? []
    const kept = starts.filter(({ sessionId }) => sessionId === 'kept').length
    if (there > starts.length)
      return [
        `${there} sessions of ${where} are stored in addition to the acknowledged ones, ${starts.length} were requested`,
      ]
    return there < kept ? [`${kept} sessions of ${where} were confirmed and ${there} are stored`] : []
  })
}

export const ratingsPersisted: Check = {
  name: 'acknowledged ratings are stored',
  async run({ db, evidence }) {
    const { rows } = await db.query<{ id: string; rating: number | null }>('select id, rating from sessions')
    const ratings = new Map(rows.map(({ id, rating }) => [id, rating]))
    return evidence.ratings
      .filter(({ sessionId, rating }) => ratings.get(sessionId) !== rating)
      .map(
        ({ sessionId, rating }) =>
          `session ${sessionId} was rated ${rating}, and has ${ratings.get(sessionId)}`,
      )
  },
}

/** Violations that were recorded during the run. */
export const nothingStrange: Check = {
  name: 'no violation was recorded during the run',
  run: async ({ evidence }: Pick<Environment, 'evidence'>) => evidence.violations.all(),
}
