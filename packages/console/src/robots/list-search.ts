import { RobotStatus } from '@wheelhouse/protocol'

/** What the address of the list says: which robots, and which page of them. */
export interface RobotSearch {
  readonly search?: string | undefined
  readonly status?: RobotStatus | undefined
  readonly type?: string | undefined
  /** From 1. */
  readonly page?: number | undefined
}

/** Robots on a page. */
export const PAGE = 25
const LAST_PAGE = 400_000
const MAX_TEXT = 100

const textOf = (value: unknown): string | undefined => {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, MAX_TEXT) : ''
  return text.trim() === '' ? undefined : text
}

/** Reads the address; what makes no sense is left out. */
export function readRobotSearch(search: Record<string, unknown>): RobotSearch {
  const page = Math.min(LAST_PAGE, Math.floor(Number(search.page)))
  return {
    search: textOf(search.search),
    status: RobotStatus.safeParse(search.status).data,
    type: textOf(search.type),
    page: page > 1 ? page : undefined,
  }
}
