import { sql } from 'kysely'

/**
 * Matches robots of a team, and robots of a person who has the client role and is not suspended. Another owner could neither see nor
 * stop the robot, so the list of available robots and the start of a session both require it.
 */
export const ownedByClient = sql<boolean>`not exists (
  select from users as owners
  where owners.id = robots.owner_id and not (owners.is_client and owners.suspended_at is null))`
