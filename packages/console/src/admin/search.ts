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

/** The filters of the audit log, as stored in the query string. */
export interface AuditSearch {
  /** Id of the user who acted. */
  readonly actor?: string | undefined
  /** Id of the object that changed. */
  readonly subject?: string | undefined
  readonly action?: string | undefined
  /** ISO 8601. */
  readonly since?: string | undefined
  readonly until?: string | undefined
}

// The router parses numeric strings as numbers.
const text = (value: unknown) =>
  typeof value === 'string' || typeof value === 'number' ? String(value).trim() || undefined : undefined
const timestamp = (value: unknown) =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value)) ? new Date(value).toISOString() : undefined

/** Reads the filters from the query string and drops invalid values. */
export const readAuditSearch = (search: Record<string, unknown>): AuditSearch => ({
  actor: text(search.actor),
  subject: text(search.subject),
  action: text(search.action),
  since: timestamp(search.since),
  until: timestamp(search.until),
})
