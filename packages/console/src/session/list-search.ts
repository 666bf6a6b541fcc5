import { SessionStatus } from '@wheelhouse/protocol'

/** What the address of the list says: which sessions, and how many of them. */
export interface ListSearch {
  readonly status?: SessionStatus | undefined
  readonly robot?: string | undefined
  /** First and last day that is shown, `2026-11-20`, in the viewer's zone. */
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly shown?: number | undefined
}

/** Sessions that are shown at first, and that every "Show more" adds. */
export const PAGE = 25
/** Who looks for older ones sets a filter, or exports. */
export const MAX_SHOWN = 2_000

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const isDay = (text: unknown): text is string =>
  typeof text === 'string' && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))

/** Reads the address; what makes no sense is left out. */
export function readListSearch(search: Record<string, unknown>): ListSearch {
  const { robot, from, to } = search
  const shown = Math.min(MAX_SHOWN, Math.floor(Number(search.shown)))
  return {
    status: SessionStatus.safeParse(search.status).data,
    robot: typeof robot === 'string' && UUID.test(robot) ? robot : undefined,
    from: isDay(from) ? from : undefined,
    to: isDay(to) ? to : undefined,
    shown: shown > PAGE ? shown : undefined,
  }
}
