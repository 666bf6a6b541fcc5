import { SessionStatus } from '@wheelhouse/protocol'

/** The filters and the length of the session list, as stored in the query string. */
export interface ListSearch {
  readonly status?: SessionStatus | undefined
  readonly robot?: string | undefined
  /** First and last day, such as `2026-11-20`, in the viewer's zone. */
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly shown?: number | undefined
}

/** The number of sessions shown at first and added by each "Show more". */
export const PAGE_SIZE = 25
/** Filters and the export give access to older sessions. */
export const MAX_SHOWN = 2_000

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const isDay = (text: unknown): text is string =>
  typeof text === 'string' && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))

/** Reads the search from the query string and drops invalid values. */
export function readListSearch(search: Record<string, unknown>): ListSearch {
  const { robot, from, to } = search
  const shown = Math.min(MAX_SHOWN, Math.floor(Number(search.shown)))
  return {
    status: SessionStatus.safeParse(search.status).data,
    robot: typeof robot === 'string' && UUID.test(robot) ? robot : undefined,
    from: isDay(from) ? from : undefined,
    to: isDay(to) ? to : undefined,
    shown: shown > PAGE_SIZE ? shown : undefined,
  }
}
