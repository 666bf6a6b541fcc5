import { RobotStatus } from '@wheelhouse/protocol'
import { z } from 'zod'
import { parameter, textParameter } from '../ui/list/list-search.ts'

const columns = ['name', 'created_at', 'total_hours', 'last_heartbeat'] as const

const schema = z.object({
  search: textParameter,
  sort: parameter(z.enum(columns.flatMap((column) => [column, `-${column}`] as const))),
  status: parameter(RobotStatus),
  type: textParameter,
})

/** Search text, order and filters of the robot list, as stored in the query string. */
export type RobotSearch = z.output<typeof schema>

/** Reads the search from the query string and drops invalid values. */
export const readRobotSearch = (search: Record<string, unknown>): RobotSearch => schema.parse(search)
