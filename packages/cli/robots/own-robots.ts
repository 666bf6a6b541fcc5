import { answerOf, type Schemas } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'

interface Filters {
  readonly status?: Schemas['RobotStatus']
  readonly robot_type?: string
  readonly tag?: string
  readonly battery_below?: number
  readonly search?: string
}

/** Size of one page. */
const PAGE = 100

/** Returns the caller's robots, newest first. */
export async function ownRobots(
  cli: Pick<Context, 'rest'>,
  filters: Filters = {},
  { limit = Number.POSITIVE_INFINITY, offset = 0 } = {},
): Promise<Schemas['Robot'][]> {
  const robots: Schemas['Robot'][] = []
  while (robots.length < limit) {
    const pageSize = Math.min(PAGE, limit - robots.length)
    const query = { ...filters, limit: pageSize, offset: offset + robots.length }
    const page = await answerOf(cli.rest.GET('/api/client/robots', { params: { query } }))
    robots.push(...page)
    if (page.length < pageSize) break
  }
  return robots
}
