/** What the address of the audit log says: which entries. */
export interface AuditSearch {
  /** Id of who did it. */
  readonly actor?: string | undefined
  /** Id of what it was done to. */
  readonly subject?: string | undefined
  readonly action?: string | undefined
  /** ISO 8601. */
  readonly since?: string | undefined
  readonly until?: string | undefined
}

// The router reads what looks like a number as one.
const text = (value: unknown) =>
  typeof value === 'string' || typeof value === 'number' ? String(value).trim() || undefined : undefined
const moment = (value: unknown) =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value)) ? new Date(value).toISOString() : undefined

/** Reads the address; what makes no sense is left out. */
export const readAuditSearch = (search: Record<string, unknown>): AuditSearch => ({
  actor: text(search.actor),
  subject: text(search.subject),
  action: text(search.action),
  since: moment(search.since),
  until: moment(search.until),
})
