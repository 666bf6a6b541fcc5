import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../core/database/tables.ts'

/** The name of an object in the audit log, and whether the object has been deleted since. */
export interface SubjectName {
  readonly name: string | null
  readonly deleted: boolean
}

interface Subject {
  readonly subject_type: string
  readonly subject_id: string
}

const userNames = sql`select id::text, display_name as name, false as deleted from users where id`

/** The query of the names of each type, up to the comparison with the ids. Other types have no name. */
const queries: Readonly<Record<string, RawBuilder<unknown>>> = {
  user: userNames,
  client: userNames,
  robot: sql`select id::text, name, deleted_at is not null as deleted from robots where id`,
  session: sql`select sessions.id::text, robots.name, false as deleted from sessions
    join robots on robots.id = sessions.robot_id where sessions.id`,
  certification: sql`select certifications.id::text, users.display_name || ', ' || certifications.robot_type as name,
    false as deleted from certifications join users on users.id = certifications.operator_id where certifications.id`,
  api_key: sql`select id::text, name, revoked_at is not null as deleted from api_keys where id`,
  invoice: sql`select invoices.id::text, organizations.name || ', ' || invoices.month as name, false as deleted
    from invoices join organizations on organizations.id = invoices.client_id where invoices.id`,
  organization: sql`select id::text, name, false as deleted from organizations where id`,
  payout: sql`select payouts.id::text, users.display_name as name, false as deleted from payouts
    join users on users.id = payouts.operator_id where payouts.id`,
  webhook: sql`select id::text, url as name, false as deleted from webhooks where id`,
}
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** Reads the names of the objects of audit entries, with one query for each type of object that occurs. */
export async function readSubjectNames(
  db: Db,
  subjects: readonly Subject[],
): Promise<(subject: Subject) => SubjectName> {
  const idsByType = new Map<string, Set<string>>()
  for (const { subject_type: type, subject_id: id } of subjects) {
    if (queries[type] && UUID.test(id)) idsByType.set(type, (idsByType.get(type) ?? new Set()).add(id))
  }
  const found = new Map<string, SubjectName>()
  await Promise.all(
    [...idsByType].map(async ([type, ids]) => {
      const query = queries[type] as RawBuilder<unknown>
      const { rows } = await sql<{ id: string; name: string; deleted: boolean }>`
        ${query} = any(${[...ids]}::uuid[])`.execute(db)
      for (const { id, name, deleted } of rows) found.set(`${type} ${id}`, { name, deleted })
    }),
  )
  return ({ subject_type: type, subject_id: id }) =>
    found.get(`${type} ${id}`) ?? { name: null, deleted: idsByType.get(type)?.has(id) ?? false }
}
