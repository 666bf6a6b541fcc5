import type { RawBuilder } from 'kysely'
import type { Tables } from '../../../core/database/tables.ts'

export interface Person {
  readonly id: string
  /** The verified address, which finds what the person sent without signing in. */
  readonly email: string | null
}

interface Change {
  /** The rows that it concerns, if they are not those of the person. */
  readonly where?: (person: Person) => RawBuilder<boolean>
}

/** A table with data of people, in the one list of them (`personal-data.ts`). */
export interface PersonalData {
  /** Names the part in the export and in the documentation. */
  readonly part: string
  readonly table: keyof Tables
  /** The condition that a row belongs to the person. */
  readonly of: (person: Person) => RawBuilder<boolean>
  readonly contains: string
  readonly kept: string
  readonly why: string
  /** The columns in the export, without secrets and without data of others, and the column that orders the rows; or why there is none. */
  readonly exported:
    | { readonly key: string; readonly type: 'uuid' | 'bigint' | 'text'; readonly columns: readonly string[] }
    | string
  /** What happens when the person deletes the account: rows are deleted, changed, or kept for the reason in `why`. */
  readonly deletion:
    | (Change & { readonly delete: true; readonly text?: string })
    | (Change & { readonly set: () => RawBuilder<unknown>; readonly text: string })
    | 'kept'
}
