import { roleMay } from '@wheelhouse/protocol'
import { type ExpressionBuilder, type RawBuilder, sql } from 'kysely'
import { containsAll } from '../../../core/database/like-patterns.ts'
import type { Tables } from '../../../core/database/tables.ts'
import { inScope } from '../../../core/http/authorization.ts'
import type { Caller } from '../../../core/http/endpoint.ts'
import { wordsOf } from '../../../core/http/search-words.ts'
import type { ExportSessions } from './session.schema.ts'

export type PartyColumn = 'operator_id' | 'client_id'
/** What a list of sessions depends on. */
export type Lister = Pick<Caller, 'userId' | 'roles' | 'organization'>

/** A user or an organization as a party of sessions. */
export interface Party {
  readonly column: PartyColumn
  readonly id: string
  /** Of an organization: the groups whose robots count; null for all. */
  readonly groupIds: readonly string[] | null
}

/**
 * Returns the parts that a caller has in sessions: of a person, those they operate for others, those on their robots, or both; of a
 * member who acts for a team, those on its robots.
 */
export function partiesOf({ userId, roles, organization }: Lister): Party[] {
  const { id, role, groupIds } = organization
  const isTeam = id !== userId
  const operates = !isTeam && roles.includes('operator')
  const owns = roles.includes('client') && roleMay(role, 'sessions.read')
  return [
    ...(operates ? [{ column: 'operator_id', id: userId, groupIds: null } as const] : []),
    ...(owns ? [{ column: 'client_id', id, groupIds } as const] : []),
  ]
}

/** Returns the condition that a session belongs to a party. What an operator drives as a member belongs to the team. */
export const isOf = ({ column, id, groupIds }: Party, table = 'sessions'): RawBuilder<boolean> =>
  column === 'operator_id'
    ? sql<boolean>`(${sql.ref(`${table}.operator_id`)} = ${id} and not ${sql.ref(`${table}.own_operator`)})`
    : inScope(table, { organizationId: id, groupIds })

/** Returns the condition that a filter sets on the sessions of a party. */
export const matchesFilter =
  ({ status, robotId, from, to, search }: Omit<ExportSessions, 'format'>, party: Party) =>
  (eb: ExpressionBuilder<Tables, 'sessions'>) => {
    const words = wordsOf(search)
    return eb.and([
      ...(status === undefined ? [] : [eb('status', '=', status)]),
      ...(robotId === undefined ? [] : [eb('robot_id', '=', robotId)]),
      ...(from === undefined ? [] : [eb('created_at', '>=', new Date(from))]),
      ...(to === undefined ? [] : [eb('created_at', '<', new Date(to))]),
      ...(words.length === 0 ? [] : [namesContain(words, party)]),
    ])
  }

/**
 * Returns the condition that all words occur in the names of robot and operator. It compares the words with each pair of
 * robot and operator that occurs in sessions of the party, and not with each session.
 */
const namesContain = (words: readonly string[], party: Party): RawBuilder<boolean> =>
  sql<boolean>`(sessions.robot_id, sessions.operator_id) in (
    select pair.robot_id, pair.operator_id
    from (select distinct robot_id, operator_id from sessions as own where ${isOf(party, 'own')}) as pair
    join robots on robots.id = pair.robot_id
    join users on users.id = pair.operator_id
    where ${containsAll(sql`concat_ws(' ', robots.name, robots.robot_type, users.display_name)`, words)})`
