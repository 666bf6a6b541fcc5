import { answerOf, type RestClient, type Schemas } from '@wheelhouse/sdk'
import { type ListSearch, PAGE } from './list-search.ts'

export type ListedSession = Schemas['Session']

/** Most that the platform gives at once. */
const MAX_LIMIT = 100
const MAX_TRIES = 3

/** The filter of an address, as the API takes it: days become times, in the viewer's zone. */
export function filterOf({ status, robot, from, to }: ListSearch) {
  return {
    ...(status && { status }),
    ...(robot && { robotId: robot }),
    ...(from && { from: midnight(from, 0) }),
    ...(to && { to: midnight(to, 1) }),
  }
}

/** The beginning of a day, or of one some days later, in the viewer's zone. */
function midnight(day: string, daysLater: number): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  return new Date(year, month - 1, date + daysLater).toISOString()
}

/**
 * As many of the newest sessions as the address asks for, and whether there are more. Pages are counted from the
 * newest, so one that comes or goes in between shifts the rest: each page repeats the last row of the one before, and
 * where that is not found again, all is read again.
 * @throws ApiError; Error when the list would not stand still
 */
export async function loadSessions(rest: RestClient, search: ListSearch, signal: AbortSignal) {
  const wanted = search.shown ?? PAGE
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const sessions = await readThrough(rest, filterOf(search), wanted + 1, signal)
    if (sessions) return { sessions: sessions.slice(0, wanted), more: sessions.length > wanted }
  }
  throw new Error('The list keeps changing')
}

/** Reads `count` sessions, or all there are; undefined when rows have shifted between two pages. */
async function readThrough(
  rest: RestClient,
  filter: ReturnType<typeof filterOf>,
  count: number,
  signal: AbortSignal,
): Promise<ListedSession[] | undefined> {
  const rows: ListedSession[] = []
  for (;;) {
    const last = rows.at(-1)
    const overlap = last ? 1 : 0
    const limit = Math.min(MAX_LIMIT, count - rows.length + overlap)
    const query = { ...filter, limit, offset: rows.length - overlap }
    const { sessions } = await answerOf(rest.GET('/api/sessions', { params: { query }, signal }))
    if (last && sessions[0]?.id !== last.id) return undefined
    rows.push(...sessions.slice(overlap))
    if (sessions.length < limit || rows.length >= count) return rows
  }
}
