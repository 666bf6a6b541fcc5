import { RobotStatus, Role, SessionStatus } from '@wheelhouse/protocol'
import { z } from 'zod'
import { parameter, textParameter } from '../list/list-search.ts'

const sessions = z.object({ search: textParameter, status: parameter(SessionStatus) })
const robots = z.object({
  search: textParameter,
  status: parameter(RobotStatus),
  tag: textParameter,
  battery_low: parameter(
    z
      .union([z.string(), z.boolean()])
      .transform(String)
      .pipe(z.enum(['true', 'false'])),
  ),
})
const users = z.object({
  search: textParameter,
  role: parameter(Role),
  suspended: parameter(z.enum(['true', 'false'])),
})

/** Reads the search of a list for admins from the query string. Invalid values are dropped. */
export const readSessionSearch = (raw: Record<string, unknown>): z.output<typeof sessions> =>
  sessions.parse(raw)
export const readRobotSearch = (raw: Record<string, unknown>): z.output<typeof robots> => robots.parse(raw)
export const readUserSearch = (raw: Record<string, unknown>): z.output<typeof users> => users.parse(raw)
