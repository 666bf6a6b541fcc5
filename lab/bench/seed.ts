import { randomBytes, randomUUID } from 'node:crypto'
import type { Client } from 'pg'
import { createSecrets } from '../../src/core/secrets.ts'
import { generateApiKey, hashApiKey } from '../../src/modules/identity/api-keys/api-key-format.ts'
import { createRobotTokens } from '../../src/modules/robots/robot-token.ts'
import type { RobotIdentity } from './fleet/robot-socket.ts'

export interface Seeded {
  readonly secretKey: string
  /** Credential of the one owner of all robots. */
  readonly ownerKey: string
  readonly robots: readonly RobotIdentity[]
}

/** Creates one owner with an API key and robots, directly in the database. */
export async function seed(db: Client, robotCount: number): Promise<Seeded> {
  const secretKey = randomBytes(32).toString('base64url')
  const tokens = createRobotTokens(createSecrets(secretKey))
  const ownerId = randomUUID()
  const ownerKey = generateApiKey()
  await db.query(
    `insert into users (id, issuer, subject, display_name, is_client) values ($1, 'bench', 'owner', 'Owner', true)`,
    [ownerId],
  )
  await db.query(
    `insert into api_keys (id, user_id, organization_id, name, hash, prefix, last4) values ($1, $2, $2, 'bench', $3, $4, $5)`,
    [randomUUID(), ownerId, hashApiKey(ownerKey), ownerKey.slice(0, 13), ownerKey.slice(-4)],
  )
  const { rows } = await db.query<{ id: string }>(
    `with made as (
       insert into robots (id, owner_id, name, robot_type, hardware_id)
       select gen_random_uuid(), $1, 'Bench ' || n, 'bench', 'bench-' || n from generate_series(1, $2::int) n
       returning id
     ), presence as (insert into robot_presence (robot_id) select id from made)
     select id from made`,
    [ownerId, robotCount],
  )
  await db.query('vacuum analyze')
  const robots = rows.map(({ id }) => ({ id, token: tokens.issue({ robotId: id, tokenVersion: 1 }) }))
  return { secretKey, ownerKey, robots }
}

/** Resets the database for every contender: no robot is connected, or all are, for contenders without presence. */
export async function resetPresence(db: Client, everyone: 'away' | 'connected'): Promise<void> {
  const connected = everyone === 'connected'
  await db.query(
    `update robot_presence set connected = $1, epoch = case when $1 then 1 else epoch end, node_id = null,
       last_heartbeat = null, last_online = null, lost_at = null`,
    [connected],
  )
  await db.query(`update robots set status = 'OFFLINE' where status <> 'OFFLINE'`)
  await db.query('delete from outbox')
  await db.query('delete from gateway_nodes')
  await db.query('vacuum analyze robot_presence, robots, outbox')
  await db.query('checkpoint')
}
