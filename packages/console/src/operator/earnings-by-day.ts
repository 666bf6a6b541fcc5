import type { RestClient, Schemas } from '@wheelhouse/sdk'
import { answerOf } from '@wheelhouse/sdk'

/** The number of days shown, including today. */
export const DAYS = 30
const PAGE_SIZE = 100
/** More pages than an operator can fill in that time. */
const MAX_PAGES = 10
/** A session can be created this long before it runs. The list is ordered by creation. */
const SCHEDULED_AHEAD_MS = 91 * 86_400_000

interface DayOfEarnings {
  readonly day: Date
  readonly cents: number
  readonly sessions: number
}

/** Returns the earnings of each of the last days in the viewer's zone, oldest first. */
export async function earningsByDay(rest: RestClient, now = new Date()): Promise<readonly DayOfEarnings[]> {
  const days = Array.from({ length: DAYS }, (_, index) => {
    const day = new Date(now.getFullYear(), now.getMonth(), now.getDate() - (DAYS - 1 - index))
    return { day, cents: 0, sessions: 0 }
  })
  const byDay = new Map(days.map((entry) => [entry.day.getTime(), entry]))
  for await (const session of completedSince(rest, (days[0]?.day.getTime() ?? 0) - SCHEDULED_AHEAD_MS)) {
    // A user who is also an owner has sessions of other operators.
    if (!('operator_earnings_cents' in session) || session.ended_at === null) continue
    const ended = new Date(session.ended_at)
    const day = byDay.get(new Date(ended.getFullYear(), ended.getMonth(), ended.getDate()).getTime())
    if (!day) continue
    day.cents += session.operator_earnings_cents ?? 0
    day.sessions += 1
  }
  return days
}

async function* completedSince(rest: RestClient, createdMs: number): AsyncGenerator<Schemas['Session']> {
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = { status: 'COMPLETED', limit: PAGE_SIZE, offset: page * PAGE_SIZE } as const
    const { sessions } = await answerOf(rest.GET('/api/sessions', { params: { query } }))
    yield* sessions
    const last = sessions.at(-1)
    if (sessions.length < PAGE_SIZE || !last || Date.parse(last.created_at) < createdMs) return
  }
}
