import { randomUUID } from 'node:crypto'
import { OrganizationRole } from '@wheelhouse/protocol'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { declaredEndpoints } from '../../../src/roles/api/declared-endpoints.ts'
import { addMember, createTeam, teamRobot } from '../../support/world/organizations.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

// Two teams. Every member of one asks every route for what belongs to the other, by all ids that there are: nothing of it shows, and
// nothing of it changes.

/** A word in every text of the first team. */
const SECRET = 'Xylophone'
/** Routes without objects of organizations: of the platform, of robots with their own credentials, and of forms. */
const isOurs = (path: string) =>
  !/^\/api\/(admin|public|health|stats|contact|robot-request|pairing|openapi|robots\/)|\/whip\/|^\/media/.test(
    path,
  )

let world: World
let members: Record<string, TestUser>
/** The ids of the first team, by the parameter of a path that could name them. */
let ids: string[]

beforeAll(async () => {
  world = await createWorld({ env: { WEBHOOK_ALLOW_LOOPBACK: 'true' } })
  const [founder, other] = [await world.client(), await world.client()]
  const teamId = await createTeam(founder, SECRET)
  const owner = await founder.actingFor(teamId)
  const post = async (path: string, body: unknown) => {
    const reply = await owner.post(path, body)
    expect(reply.status, `${path} ${JSON.stringify(reply.body)}`).toBeLessThan(300)
    return reply.body
  }
  const group = await post(`/api/organizations/${teamId}/groups`, { name: SECRET })
  const robot = await teamRobot(owner, { name: SECRET, notes: SECRET, group_id: group.id, operators: 'own' })
  const link = (await world.connect(robot)).beat()
  const operator = await world.newUser()
  await addMember(world, teamId, operator, 'operator')
  const driver = await operator.actingFor(teamId)
  const started = await driver.post('/api/sessions', { robotId: robot.id })
  expect(started.status, JSON.stringify(started.body)).toBe(201)
  const sessionId = started.body.sessionId as string
  const message = await post(`/api/sessions/${sessionId}/messages`, { body: SECRET })
  await post(`/api/sessions/${sessionId}/episodes`, { action: 'start', task: SECRET })
  await post(`/api/sessions/${sessionId}/episodes`, { action: 'success' })
  const invitation = await post(`/api/organizations/${teamId}/invitations`, {
    email: `${SECRET}@test.local`,
    role: 'viewer',
  })
  const webhook = await post('/api/webhooks', {
    url: 'http://127.0.0.1:9/x',
    description: SECRET,
    types: ['*'],
  })
  await owner.patch(`/api/webhooks/${webhook.id}`, { enabled: false }) // deliveries would change it
  await owner.patch(`/api/sessions/${sessionId}`, { action: 'end' })
  await link.close()
  const datasets = await owner.get('/api/client/datasets')
  ids = [
    teamId,
    group.id,
    robot.id,
    sessionId,
    message.id,
    invitation.id,
    webhook.id,
    operator.id,
    founder.id,
  ]
  ids.push(...datasets.body.datasets.map(({ id }: { id: string }) => id))
  expect(ids.every((id) => /^[0-9a-f-]{36}$/.test(id))).toBe(true)

  const otherTeam = await createTeam(other, 'Other')
  members = { 'another person': await world.client(), 'another operator': await world.operator() }
  members.owner = await other.actingFor(otherTeam)
  for (const role of OrganizationRole.options.filter((option) => option !== 'owner')) {
    const user = await world.newUser()
    await addMember(world, otherTeam, user, role)
    members[role] = await user.actingFor(otherTeam)
  }
})
afterAll(() => world[Symbol.asyncDispose]())

/** Fills a path with each id of the first team; further parameters get ids that do not exist. */
const pathsOf = (path: string): string[] => {
  const first = /\{\w+\}/.exec(path)
  if (!first) return [path]
  return ids.map((id) =>
    path
      .replace(first[0], id)
      .replace(/\{(\w+)\}/g, (_, name) => (/id|share|bookmark|stream/.test(name) ? randomUUID() : '1')),
  )
}

/** Returns a text of everything that belongs to the first team. */
async function stateOf(): Promise<string> {
  const tables = ['organizations', 'organization_groups', 'organization_members', 'organization_invitations']
  const owned = ['robots', 'sessions', 'messages', 'webhooks', 'datasets', 'episodes']
  const rows = await Promise.all(
    [...tables, ...owned].map(async (table) => {
      const { rows } = await sql<{ text: string }>`
        select string_agg(t::text, E'\n' order by t::text) as text from ${sql.table(table)} t
        where t::text ~ ${ids.join('|')}`.execute(world.platform.core.db)
      return `${table} ${rows[0]?.text}`
    }),
  )
  return rows.join('\n')
}

test.each(['another person', 'another operator', ...OrganizationRole.options])(
  'as %s of another team, no route shows or changes anything of this one',
  async (name) => {
    const member = members[name]!
    const before = await stateOf()
    expect(before).toContain(SECRET)
    for (const { method, path, access, media, upload } of declaredEndpoints()) {
      if (access === 'public' || upload || !isOurs(path)) continue
      for (const filled of pathsOf(path)) {
        const response = await fetch(world.baseUrl + filled, {
          method: method.toUpperCase(),
          headers: {
            Authorization: `Bearer ${member.token}`,
            ...(member.organizationId && { 'Wheelhouse-Organization': member.organizationId }),
            'Content-Type': 'application/json',
          },
          ...(method !== 'get' && { body: '{}' }),
        })
        const text = await response.text()
        const named = `${name}: ${method} ${filled} ${response.status}`
        expect(text, named).not.toContain(SECRET)
        for (const id of ids) if (!filled.includes(id)) expect(text, named).not.toContain(id)
        if (filled !== path && !media) expect(response.status, named).toBeGreaterThanOrEqual(400)
      }
    }
    expect(await stateOf()).toBe(before)
  },
)
