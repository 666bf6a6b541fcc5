import { connectTo } from '../database/sql.ts'
import type { TestUser } from './test-user.ts'
import type { World } from './world.ts'

/** Creates a client with past sessions. */
export async function ownerOf(world: World, count: number): Promise<TestUser> {
  const [client, operator] = [await world.client(), await world.operator()]
  const robot = await world.robot(client)
  await using database = await connectTo(world.database.url)
  // Without triggers: the triggers for totals would update the same few rows for each session.
  await database.query('set session_replication_role = replica')
  await database.query(
    `insert into sessions (id, robot_id, operator_id, client_id, status, started_at, ended_at, created_at,
       client_charge_cents, recorded_robot_name, recorded_robot_type, recorded_operator_name, recorded_client_name)
     select gen_random_uuid(), $1, $2, $3, 'COMPLETED', at, at + interval '90 s', at, n, 'Arm', 'testbot', 'Grace', 'Ada'
     from (select n, timestamptz '2026-03-01Z' - (n / 7) * interval '1 s' as at from generate_series(0, $4 - 1) n) rows`,
    [robot.id, operator.id, client.id, count],
  )
  return client
}
