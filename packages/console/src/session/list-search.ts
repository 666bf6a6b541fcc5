import { SessionStatus } from '@wheelhouse/protocol'
import { z } from 'zod'
import { parameter, textParameter } from '../list/list-search.ts'

const day = parameter(z.iso.date())

const schema = z.object({
  search: textParameter,
  sort: parameter(z.enum(['created_at', '-created_at'])),
  status: parameter(SessionStatus),
  robot: parameter(z.guid()),
  from: day,
  to: day,
})

/** Search text, order and filters of the session list, as stored in the query string. */
export type SessionSearch = z.output<typeof schema>

export const readSessionSearch = (search: Record<string, unknown>): SessionSearch => schema.parse(search)

/** Returns the API filter for a search. Days become times in the viewer's zone. */
export function filterOf({ search, status, robot, from, to }: SessionSearch) {
  return {
    ...(search && { search }),
    ...(status && { status }),
    ...(robot && { robotId: robot }),
    ...(from && { from: midnight(from, 0) }),
    ...(to && { to: midnight(to, 1) }),
  }
}

function midnight(date: string, daysLater: number): string {
  const [year = 0, month = 1, dayOfMonth = 1] = date.split('-').map(Number)
  return new Date(year, month - 1, dayOfMonth + daysLater).toISOString()
}
