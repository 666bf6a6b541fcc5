import { z } from 'zod'
import { parameter } from '../list/list-search.ts'

const trimmed = parameter(z.coerce.string().trim().min(1))
/** Any time that browsers read, as ISO 8601. */
const time = parameter(
  z
    .string()
    .refine((text) => !Number.isNaN(Date.parse(text)))
    .transform((text) => new Date(text).toISOString()),
)
const audit = z.object({ actor: trimmed, subject: trimmed, action: trimmed, since: time, until: time })

/** The filters of the audit log, as stored in the query string: who acted, the id of what changed, and when. */
export type AuditSearch = z.output<typeof audit>

export const readAuditSearch = (raw: Record<string, unknown>): AuditSearch => audit.parse(raw)
