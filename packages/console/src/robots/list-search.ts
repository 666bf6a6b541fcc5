import { RobotStatus } from '@wheelhouse/protocol'

/** The filters and the page of the robot list, as stored in the query string. */
export interface RobotSearch {
  readonly search?: string | undefined
  readonly status?: RobotStatus | undefined
  readonly type?: string | undefined
  /** Starts at 1. */
  readonly page?: number | undefined
}

/** Robots per page. */
export const PAGE_SIZE = 25
const LAST_PAGE = 400_000
const MAX_TEXT = 100

const textOf = (value: unknown): string | undefined => {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, MAX_TEXT) : ''
  return text.trim() === '' ? undefined : text
}

/** Reads the search from the query string and drops invalid values. */
export function readRobotSearch(search: Record<string, unknown>): RobotSearch {
  const page = Math.min(LAST_PAGE, Math.floor(Number(search.page)))
  return {
    search: textOf(search.search),
    status: RobotStatus.safeParse(search.status).data,
    type: textOf(search.type),
    page: page > 1 ? page : undefined,
  }
}
