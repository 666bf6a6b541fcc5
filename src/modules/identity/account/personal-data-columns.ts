import { type RawBuilder, sql } from 'kysely'
import type { Person } from './personal-data-part.ts'

// What the parts of the table of personal data have in common.

/** The name of everybody who deleted the account. */
export const DELETED_NAME = 'Deleted user'
/** The text of a message whose sender deleted the account. */
export const DELETED_TEXT = '(deleted)'

export const UNTIL_DELETION = 'until you change it or delete the account'
export const LAW = 'ten years, as tax law demands'
export const NO_TIME_LIMIT = 'as long as the record of the session'

export const column =
  (name: string) =>
  ({ id }: Person): RawBuilder<boolean> =>
    sql<boolean>`${sql.ref(name)} = ${id}::uuid`
export const ofUser = column('user_id')
export const byAddress = ({ email }: Person) =>
  sql<boolean>`lower(email collate "C") = lower(${email} collate "C")`
export const either =
  (first: string, second: string) =>
  ({ id }: Person) =>
    sql<boolean>`(${sql.ref(first)} = ${id}::uuid or ${sql.ref(second)} = ${id}::uuid)`
export const text = (words: string): readonly string[] => words.split(/\s+/)
export const byId = (columns: string) => ({ key: 'id', type: 'uuid', columns: text(columns) }) as const
export const byUser = (columns: string) => ({ key: 'user_id', type: 'uuid', columns: text(columns) }) as const

/** Messages in stored copies of events for the other participants of the person's sessions. */
export const inStreamsOfOthers = ({ id }: Person) => sql`
  select client_id from sessions where operator_id = ${id}::uuid
  union select operator_id from sessions where client_id = ${id}::uuid
  union select client_id from sessions where id in (select session_id from messages where sender_id = ${id}::uuid)
  union select operator_id from sessions where id in (select session_id from messages where sender_id = ${id}::uuid)`
export const withoutMessage = sql`data = jsonb_set(jsonb_set(data, '{data,body}', to_jsonb(${DELETED_TEXT}::text)),
  '{data,sender_name}', to_jsonb(${DELETED_NAME}::text))`
export const isMessageOf = ({ id }: Person) =>
  sql<boolean>`type = 'chat.message' and data #>> '{data,sender_id}' = ${id}::text`
