import { randomUUID } from 'node:crypto'
import type { Client } from 'pg'
import { createSecrets } from '../../src/core/secrets.ts'
import { generateApiKey, hashApiKey } from '../../src/modules/identity/api-keys/api-key-format.ts'
import { createRobotTokens } from '../../src/modules/robots/robot-token.ts'

export interface TestUser {
  readonly id: string
  readonly name: string
  readonly apiKey: string
}

export interface FixtureRobot {
  readonly id: string
  readonly token: string
  readonly owner: TestUser
}

export interface Fixtures {
  readonly owners: readonly TestUser[]
  readonly operators: readonly TestUser[]
  readonly robots: readonly FixtureRobot[]
}

/** Creates users with API keys, and robots, directly in the database. */
export async function seedFixtures(
  db: Client,
  counts: { owners: number; operators: number; robots: number; secretKey: string },
): Promise<Fixtures> {
  const owners = await users(db, counts.owners, 'client')
  const operators = await users(db, counts.operators, 'operator')
  const tokens = createRobotTokens(createSecrets(counts.secretKey))
  const robots = Array.from({ length: counts.robots }, (_, index) => {
    const id = randomUUID()
    const owner = owners[index % owners.length] as TestUser
    return { id, owner, token: tokens.issue({ robotId: id, tokenVersion: 1 }) }
  })
  await db.query(
    `insert into robots (id, owner_id, name, robot_type, hardware_id, latency_limit_ms, stop_clear)
     select id, owner_id, 'Robot ' || n, 'chaos', id::text, 2000, 'anyone'
     from unnest($1::uuid[], $2::uuid[]) with ordinality as r (id, owner_id, n)`,
    [robots.map(({ id }) => id), robots.map(({ owner }) => owner.id)],
  )
  await db.query('insert into robot_presence (robot_id) select unnest($1::uuid[])', [
    robots.map(({ id }) => id),
  ])
  return { owners, operators, robots }
}

async function users(db: Client, count: number, role: 'client' | 'operator'): Promise<TestUser[]> {
  const made = Array.from({ length: count }, (_, index) => ({
    id: randomUUID(),
    apiKey: generateApiKey(),
    name: `${role} ${index + 1}`,
  }))
  await db.query(
    `insert into users (id, issuer, subject, display_name, is_client, is_operator)
     select id, 'chaos', id::text, name, $3 = 'client', $3 = 'operator'
     from unnest($1::uuid[], $2::text[]) as u (id, name)`,
    [made.map(({ id }) => id), made.map(({ name }) => name), role],
  )
  await db.query(
    `insert into api_keys (id, user_id, organization_id, name, hash, prefix, last4)
     select gen_random_uuid(), id, id, 'chaos', hash, 'svc_live_0000', '0000'
     from unnest($1::uuid[], $2::text[]) as k (id, hash)`,
    [made.map(({ id }) => id), made.map(({ apiKey }) => hashApiKey(apiKey))],
  )
  return made
}
