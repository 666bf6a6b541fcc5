import { type ExpressionBuilder, type RawBuilder, sql } from 'kysely'
import { containsAll } from '../../../core/database/like-patterns.ts'
import type { Tables } from '../../../core/database/tables.ts'
import { wordsOf } from '../../../core/http/search-words.ts'
import { isOf, type Party } from '../../../core/permissions/session-part.ts'
import type { ExportSessions } from './session.schema.ts'

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
