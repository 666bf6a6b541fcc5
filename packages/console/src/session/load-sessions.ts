import { answerOf, type RestClient, type Schemas } from '@wheelhouse/sdk'
import { type ListSearch, PAGE_SIZE } from './list-search.ts'

export type ListedSession = Schemas['Session']

/** The maximum page size of the API. */
const MAX_LIMIT = 100
const MAX_ATTEMPTS = 3

/** Returns the API filter for a search. Days become times in the viewer's zone. */
export function filterOf({ status, robot, from, to }: ListSearch) {
  return {
    ...(status && { status }),
    ...(robot && { robotId: robot }),
    ...(from && { from: midnight(from, 0) }),
    ...(to && { to: midnight(to, 1) }),
  }
}

/** Returns the start of a day, or of a later day, in the viewer's zone. */
function midnight(day: string, daysLater: number): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  return new Date(year, month - 1, date + daysLater).toISOString()
}

/**
 * Loads the newest sessions of a search, and whether there are more. Offsets count from the newest session, so a
 * session that starts between two requests shifts the rows. Each page therefore repeats the last row of the previous
 * page. If that row is missing, the list is read again.
 * @throws ApiError; Error when the list changes on every attempt
 */
export async function loadSessions(rest: RestClient, search: ListSearch, signal: AbortSignal) {
  const count = search.shown ?? PAGE_SIZE
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const sessions = await readPages(rest, filterOf(search), count + 1, signal)
    if (sessions) return { sessions: sessions.slice(0, count), more: sessions.length > count }
  }
  throw new Error('The list changed while it was loading. Try again.')
}

/** Reads up to `count` sessions. Returns undefined when rows shifted between two pages. */
async function readPages(
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
