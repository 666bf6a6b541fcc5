import { randomUUID } from 'node:crypto'
import type { Client } from 'pg'
import { type ApiUser, finishedSessions, robotsOf, users, withoutTriggers } from './fixtures.ts'

/** A team with an owner, and a member who sees half of its robots, by their group. */
export interface BenchTeam {
  readonly id: string
  readonly owner: ApiUser
  readonly grouped: ApiUser
}

export interface TeamSize {
  readonly members: number
  readonly robots: number
}

/** Groups of a team. Half of the robots are in one of them, and the others in none. */
const GROUPS = 20

/**
 * Creates a team, directly in the database: a finished session, a recording and an audit entry for each robot, and a dataset. The owner
 * and the member who is limited to groups count as members.
 */
export async function seedTeam(db: Client, { members, robots }: TeamSize): Promise<BenchTeam> {
  const id = randomUUID()
  await db.query(`insert into organizations (id, name) values ($1, 'Bench team')`, [id])
  await db.query(
    `insert into organization_groups (id, organization_id, name)
     select gen_random_uuid(), $1, 'Group ' || n from generate_series(1, $2::int) n`,
    [id, GROUPS],
  )
  const [owner, grouped] = (await users(db, 2, 'client', id)) as [ApiUser, ApiUser]
  await db.query(
    `insert into organization_members (organization_id, user_id, role, group_ids) values
       ($1, $2, 'owner', null),
       ($1, $3, 'supervisor', (select array_agg(id) from organization_groups where organization_id = $1))`,
    [id, owner.id, grouped.id],
  )
  await db.query(
    `with made as (
       insert into users (id, issuer, subject, display_name, is_operator)
       select gen_random_uuid(), 'bench', gen_random_uuid(), 'Member ' || n, true from generate_series(1, $2::int) n
       returning id)
     insert into organization_members (organization_id, user_id, role) select $1, id, 'operator' from made`,
    [id, members - 1],
  )
  await seedRobots(db, id, robots)
  await seedHistory(db, id, owner)
  return { id, owner, grouped }
}

/** A robot of a team, with those who may control it. */
export interface ControlTeam {
  readonly robotId: string
  readonly operator: ApiUser
  readonly supervisors: readonly ApiUser[]
}

/** Creates a team with one robot without a latency budget, an operator and supervisors, directly in the database. */
export async function seedControlTeam(db: Client, supervisorCount: number): Promise<ControlTeam> {
  const id = randomUUID()
  await db.query(`insert into organizations (id, name) values ($1, 'Control team')`, [id])
  const [owner, operator, ...supervisors] = (await users(db, supervisorCount + 2, 'operator', id)) as [
    ApiUser,
    ApiUser,
    ...ApiUser[],
  ]
  await db.query(
    `insert into organization_members (organization_id, user_id, role)
     select $1, user_id, case when user_id = $3 then 'owner' when user_id = $4 then 'operator' else 'supervisor' end
     from unnest($2::uuid[]) as user_id`,
    [id, [owner.id, operator.id, ...supervisors.map((user) => user.id)], owner.id, operator.id],
  )
  const [robotId] = (await robotsOf(db, [id], 'OFFLINE')) as [string]
  await db.query(
    'update robots set latency_budget_ms = null, latency_limit_ms = 5000, video_limit_ms = null where id = $1',
    [robotId],
  )
  return { robotId, operator, supervisors }
}

async function seedRobots(db: Client, id: string, count: number): Promise<void> {
  await db.query(
    `with made as (
       insert into robots (id, owner_id, group_id, name, robot_type, hardware_id, created_at)
       select robot, $1, case when n % 2 = 0 then groups.ids[1 + n / 2 % $3] end, 'Robot ' || n, 'bench', robot,
         now() - n * interval '1 minute'
       from (select array_agg(id) as ids from organization_groups where organization_id = $1) as groups,
         (select n, gen_random_uuid() as robot from generate_series(1, $2::int) n) as numbered
       returning id)
     insert into robot_presence (robot_id) select id from made`,
    [id, count, GROUPS],
  )
}

async function seedHistory(db: Client, id: string, owner: ApiUser): Promise<void> {
  const { rows } = await db.query<{ id: string }>('select id from robots where owner_id = $1', [id])
  const robots = rows.map((row) => row.id)
  const [operator] = (await users(db, 1, 'operator')) as [ApiUser]
  await finishedSessions(db, { id }, { operators: [operator], robots, count: robots.length })
  await withoutTriggers(db, async () => {
    await db.query(
      `insert into recordings (id, session_id, robot_id, client_id, operator_id, mode, status, started_at, ended_at, error)
       select gen_random_uuid(), id, robot_id, client_id, operator_id, 'control', 'FAILED', started_at, ended_at, 'bench'
       from sessions where client_id = $1`,
      [id],
    )
    await db.query(
      `insert into datasets (id, robot_id, client_id) select gen_random_uuid(), id, owner_id from robots where owner_id = $1`,
      [id],
    )
    await db.query(
      `insert into audit_log (actor_id, action, subject_type, subject_id, data, organization_id, retention)
       select $2, 'robot.changed', 'robot', id::text, '{}', $1, 'days_90' from robots where owner_id = $1`,
      [id, owner.id],
    )
  })
}
