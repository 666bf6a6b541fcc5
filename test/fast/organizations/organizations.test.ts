import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HubClient } from '../../../packages/sdk/hub-client.ts'
import { addMember, createTeam, teamRobot } from '../../support/world/organizations.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
let founder: TestUser
let owner: TestUser
let teamId: string
beforeAll(async () => {
  world = await createWorld()
  founder = await world.client()
  teamId = await createTeam(founder)
  owner = await founder.actingFor(teamId)
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
})

const member = async (role: Parameters<typeof addMember>[3], groupIds: string[] | null = null) => {
  const user = await world.newUser()
  await addMember(world, teamId, user, role, groupIds)
  return await user.actingFor(teamId)
}
const group = async (name: string) =>
  (await owner.post(`/api/organizations/${teamId}/groups`, { name })).body.id as string

describe('an organization', () => {
  test('is personal, with the id of its person, until somebody creates a team', async () => {
    const user = await world.newUser()
    const before = await user.get('/api/organizations')
    expect(before.body.organizations).toMatchObject([{ id: user.id, kind: 'personal', role: 'owner' }])
    const team = await createTeam(user, 'Second')
    const after = await user.get('/api/organizations')
    expect(after.body.organizations).toMatchObject([
      { id: user.id },
      { id: team, kind: 'team', role: 'owner' },
    ])
    expect(await user.patch(`/api/organizations/${team}`, { name: 'Renamed' })).toMatchObject({
      status: 200,
      body: { name: 'Renamed' },
    })
    expect(await user.patch(`/api/organizations/${user.id}`, { name: 'Me' })).toMatchObject({ status: 409 })
  })

  test('is unknown to everybody else, as an id that does not exist', async () => {
    const stranger = await world.client()
    const unknown = await stranger.get(`/api/organizations/${crypto.randomUUID()}`)
    expect(unknown).toMatchObject({ status: 404, body: { error: 'Organization not found' } })
    for (const path of ['', '/members', '/groups', '/invitations'])
      expect(await stranger.get(`/api/organizations/${teamId}${path}`), path).toMatchObject({
        status: 404,
        body: unknown.body,
      })
    const acting = await stranger.actingFor(teamId)
    expect(await acting.get('/api/client/robots')).toMatchObject({ status: 404, body: unknown.body })
    const malformed = await stranger.actingFor('team')
    expect(await malformed.get('/api/client/robots')).toMatchObject({ status: 400 })
  })

  test('is the one of the header: robots and sessions of others do not show', async () => {
    const robot = await teamRobot(owner)
    const ids = async (user: TestUser) =>
      (await user.get('/api/client/robots')).body.map(({ id }: { id: string }) => id)
    expect(await ids(owner)).toContain(robot.id)
    expect(await ids(founder)).not.toContain(robot.id)
    expect(await founder.get(`/api/client/robots/${robot.id}`)).toMatchObject({ status: 404 })
  })

  test('has keys of its own: they act for no other organization', async () => {
    const robot = await teamRobot(owner)
    const { key } = await owner.key()
    const ask = (path: string, headers = {}) =>
      fetch(world.baseUrl + path, { headers: { Authorization: `Bearer ${key}`, ...headers } })
    expect((await ask(`/api/client/robots/${robot.id}`)).status).toBe(200)
    const elsewhere = await ask('/api/client/robots', { 'Wheelhouse-Organization': founder.id })
    expect(elsewhere.status).toBe(404)
    expect((await ask(`/api/organizations/${founder.id}`)).status).toBe(404)
  })

  test('has keys of its own: they see and change nothing that belongs to the person', async () => {
    const { key } = await owner.key()
    const personal = await founder.key()
    const routes: [string, string, unknown?][] = [
      ['GET', '/api/notifications'],
      ['POST', '/api/notifications/read', { up_to: '1' }],
      ['GET', '/api/notifications/settings'],
      ['POST', '/api/auth/profile', { display_name: founder.name }],
    ]
    for (const [method, path, body] of routes) {
      const reply = await founder.request(method, path, body, key)
      const code = reply.headers.get('Wheelhouse-Error')
      expect({ path, status: reply.status, code }).toEqual({
        path,
        status: 403,
        code: 'personal_key_required',
      })
      expect((await founder.request(method, path, body, personal.key)).status, path).toBe(200)
      expect((await owner.request(method, path, body)).status, path).toBe(200)
    }

    const [ofTeam, own] = [await owner.hub({ token: key }), await founder.hub()]
    expect(await ofTeam.send('notifications:since')).toMatchObject({ ok: false, status: 403 })
    await world.platform.core.transact((tx) =>
      tx.notify(new Date(), [
        { userId: founder.id, type: 'certification.approved', data: { robot_type: 'own' } },
      ]),
    )
    await own.saw('notification', { type: 'certification.approved' })
    await world.drained()
    expect(ofTeam.of('notification')).toEqual([])
  })

  test('is the one that a client of the hub names, also when the console has chosen another one', async () => {
    const robot = await teamRobot(owner)
    const robotsOf = async (organization: string | undefined) => {
      await using hub = Object.assign(
        new HubClient({ url: world.hubUrl, token: founder.token, organization: () => organization }),
        { [Symbol.asyncDispose]: async () => hub.close() },
      )
      const ids: string[] = []
      await Promise.all([
        hub.watchRobots((update) => {
          if (update.kind === 'list') ids.push(...update.robots.map((listed) => listed.robot_id))
        }),
        hub.connect(),
      ])
      return ids
    }
    expect(await robotsOf(teamId)).toContain(robot.id)
    expect(await robotsOf(undefined)).not.toContain(robot.id)
  })

  test('notifies owners and admins first when it has more members than a notification reaches', async () => {
    const team = await createTeam(founder, 'Crowd')
    const members = await world.platform.core.db
      .insertInto('users')
      .values(
        Array.from({ length: 205 }, (_, index) => ({
          id: crypto.randomUUID(),
          issuer: 'crowd',
          subject: `${team}-${index}`,
          display_name: `Member ${index}`,
        })),
      )
      .returning('id')
      .execute()
    const admins = members.slice(-3).map(({ id }) => id)
    for (const { id } of members)
      await addMember(world, team, { id }, admins.includes(id) ? 'admin' : 'supervisor')
    await world.platform.core.transact((tx) =>
      tx.notify(new Date(), [
        { organizationId: team, type: 'robot.battery_low', data: { robot_name: 'Crane' } },
      ]),
    )
    const reached = await world.platform.core.db
      .selectFrom('notifications')
      .select('user_id')
      .where('user_id', 'in', [founder.id, ...members.map(({ id }) => id)])
      .where('type', '=', 'robot.battery_low')
      .execute()
    const ids = reached.map(({ user_id }) => user_id)
    expect(ids).toHaveLength(200)
    expect(ids).toEqual(expect.arrayContaining([founder.id, ...admins]))
    const others = members.map(({ id }) => id).filter((id) => !admins.includes(id))
    expect(ids.filter((id) => others.includes(id)).sort()).toEqual(others.sort().slice(0, 196))
  })
})

describe('members', () => {
  test('are invited by mail; the token is single use', async () => {
    const invited = await world.newUser()
    const email = `${invited.name}@test.local`
    const created = await owner.post(`/api/organizations/${teamId}/invitations`, { email, role: 'viewer' })
    expect(created).toMatchObject({ status: 201, body: { email, role: 'viewer' } })
    expect(Object.keys(created.body).sort()).toEqual(['email', 'expires_at', 'id', 'role'])
    const again = await owner.post(`/api/organizations/${teamId}/invitations`, { email, role: 'viewer' })
    expect(again.status).toBe(409)
    const forged = await invited.post(`/api/invitations/${created.body.id}.${'A'.repeat(43)}/accept`)
    expect(forged.status).toBe(404)
    const other = await world.newUser()
    expect((await other.post(`/api/invitations/${created.body.id}/accept`)).status).toBe(404)

    const token = `${created.body.id}.${world.platform.core.secrets.sign('organization-invitation', created.body.id)}`
    const accepted = await Promise.all(
      Array.from({ length: 8 }, () => invited.post(`/api/invitations/${token}/accept`)),
    )
    expect(accepted.filter(({ status }) => status === 200)).toHaveLength(1)
    const members = await owner.get(`/api/organizations/${teamId}/members?search=${invited.name}`)
    expect(members.body.members).toMatchObject([{ user_id: invited.id, role: 'viewer', email }])
  })

  test('with the invited address, verified, see their invitations', async () => {
    const invited = await world.newUser()
    const email = `${invited.name.toUpperCase()}@test.local`
    const { body } = await owner.post(`/api/organizations/${teamId}/invitations`, { email, role: 'billing' })
    const received = await invited.get('/api/invitations')
    expect(received.body.invitations).toMatchObject([{ id: body.id, role: 'billing' }])
    expect((await invited.post(`/api/invitations/${body.id}/accept`)).status).toBe(200)
    expect((await invited.get('/api/invitations')).body.invitations).toEqual([])
  })

  test('who are not owners make no owners; the last owner stays', async () => {
    const admin = await member('admin')
    const viewer = await member('viewer')
    const path = (user: TestUser) => `/api/organizations/${teamId}/members/${user.id}`
    expect((await admin.patch(path(viewer), { role: 'owner' })).status).toBe(403)
    expect((await admin.patch(path(founder), { role: 'viewer' })).status).toBe(403)
    expect((await admin.delete(path(founder))).status).toBe(403)
    expect((await viewer.patch(path(admin), { role: 'viewer' })).status).toBe(403)
    expect((await viewer.delete(path(admin))).status).toBe(403)
    for (const change of [owner.delete(path(founder)), owner.patch(path(founder), { role: 'admin' })])
      expect(await change).toMatchObject({ status: 409 })
    expect((await viewer.delete(path(viewer))).status).toBe(204)
    expect((await founder.get(path(viewer).replace(/members.*/, 'members'))).body.members).not.toContainEqual(
      expect.objectContaining({ user_id: viewer.id }),
    )
  })

  test('who leave at the same time leave one owner', async () => {
    const team = await createTeam(founder, 'Race')
    const second = await world.newUser()
    await addMember(world, team, second, 'owner')
    const left = await Promise.all(
      [founder, second].map((user) => user.delete(`/api/organizations/${team}/members/${user.id}`)),
    )
    expect(left.map(({ status }) => status).sort()).toEqual([204, 409])
  })

  test('of some groups see their robots and sessions only', async () => {
    const [north, south] = [await group('North'), await group('South')]
    const own = await teamRobot(owner, { group_id: north })
    const other = await teamRobot(owner, { group_id: south })
    const supervisor = await member('supervisor', [north])
    const robots = await supervisor.get('/api/client/robots')
    expect(robots.body.map(({ id }: { id: string }) => id)).toEqual([own.id])
    expect(robots.headers.get('X-Total-Count')).toBe('1')
    expect((await supervisor.get(`/api/client/robots/${own.id}`)).status).toBe(200)
    for (const path of ['', '/logs', '/health', '/cameras'])
      expect((await supervisor.get(`/api/client/robots/${other.id}${path}`)).status, path).toBe(404)
    expect((await supervisor.post('/api/sessions', { robotId: other.id })).status).not.toBe(201)
    expect(
      (await owner.patch(`/api/client/robots/${own.id}`, { group_id: crypto.randomUUID() })).status,
    ).toBe(400)
    expect((await owner.delete(`/api/organizations/${teamId}/groups/${north}`)).status).toBe(204)
    expect((await supervisor.get('/api/client/robots')).body).toEqual([])
  })
})

describe('own operators', () => {
  test('drive at no charge, and the session says so; nobody else can be charged for them', async () => {
    const robot = await teamRobot(owner)
    const link = (await world.connect(robot)).beat()
    const operator = await member('operator')
    await waitFor(async () =>
      expect((await operator.get('/api/operator/available-robots')).body.robots).toMatchObject([
        { id: robot.id },
      ]),
    )
    // Without the header the organization would pay the marketplace for its own operator.
    const user = await world.operator()
    await addMember(world, teamId, user, 'operator')
    expect(await user.post('/api/sessions', { robotId: robot.id })).toMatchObject({ status: 403 })

    const started = await operator.post('/api/sessions', { robotId: robot.id })
    expect(started.status, JSON.stringify(started.body)).toBe(201)
    const path = `/api/sessions/${started.body.sessionId}`
    const session = await operator.get(path)
    expect(session.body).toMatchObject({ own_operator: true, rate_cents_per_minute: 0 })
    expect((await operator.patch(path, { action: 'end' })).body).toMatchObject({
      status: 'COMPLETED',
      client_charge_cents: 0,
    })
    const entries = await world.platform.core.db
      .selectFrom('ledger_entries')
      .select('id')
      .where('session_id', '=', started.body.sessionId)
      .execute()
    expect(entries).toEqual([])
    // The session belongs to the team: its operator does not see it as a person.
    const person = await operator.actingFor(operator.id)
    expect((await person.get(path)).status).toBe(404)
    expect((await owner.post(`${path}/rate`, { rating: 5 })).status).toBe(403)
    await link.close()
  })

  test('and the marketplace: a robot says who may drive it', async () => {
    const own = await teamRobot(owner, { operators: 'own' })
    const open = await teamRobot(owner, { operators: 'marketplace' })
    const links = [await world.connect(own), await world.connect(open)].map((link) => link.beat())
    const outsider = await world.operator()
    const listed = async (user: TestUser) =>
      (await user.get('/api/operator/available-robots')).body.robots.map(({ id }: { id: string }) => id)
    await waitFor(async () => expect(await listed(outsider)).toContain(open.id))
    expect(await listed(outsider)).not.toContain(own.id)
    expect((await outsider.post('/api/sessions', { robotId: own.id })).status).toBe(404)
    expect((await outsider.get(`/api/operator/robots/${own.id}`)).status).toBe(404)
    const operator = await member('operator')
    expect(await listed(operator)).toEqual([own.id])
    expect((await operator.post('/api/sessions', { robotId: open.id })).status).toBe(403)
    const started = await outsider.post('/api/sessions', { robotId: open.id })
    expect(started.status).toBe(201)
    const session = await owner.get(`/api/sessions/${started.body.sessionId}`)
    expect(session.body.own_operator).toBeUndefined()
    expect(session.body.rate_cents_per_minute).toBeGreaterThan(0)
    await owner.patch(`/api/sessions/${started.body.sessionId}`, { action: 'end' })
    for (const link of links) await link.close()
  })

  test('of the marketplace cost something, which the members see who see costs', async () => {
    const robot = await teamRobot(owner, { operators: 'both' })
    const link = (await world.connect(robot)).beat()
    const operator = await world.operator()
    await waitFor(async () =>
      expect((await operator.get('/api/operator/available-robots')).body.robots).toContainEqual(
        expect.objectContaining({ id: robot.id }),
      ),
    )
    const started = await operator.post('/api/sessions', { robotId: robot.id })
    expect(started.status, JSON.stringify(started.body)).toBe(201)
    const { sessionId } = started.body
    await operator.patch(`/api/sessions/${sessionId}`, { action: 'end' })
    const costs = async (user: TestUser) => {
      const { body } = await user.get(`/api/sessions/${sessionId}`)
      const listed = (await user.get('/api/sessions')).body.sessions.find(
        ({ id }: { id: string }) => id === sessionId,
      )
      const exported = await user.post('/api/sessions/export', { format: 'json' })
      const row = exported.body.sessions.find(({ id }: { id: string }) => id === sessionId)
      return [body, listed, row].map(({ client_charge_cents }) => client_charge_cents)
    }
    const shown = [50, 50, 50]
    for (const user of [owner, await member('billing'), await member('admin'), operator])
      expect(await costs(user), user.name).toEqual(shown)
    for (const role of ['supervisor', 'operator', 'viewer'] as const)
      expect(await costs(await member(role)), role).toEqual([null, null, null])
    const viewer = await member('viewer')
    expect((await viewer.get(`/api/sessions/${sessionId}`)).body.rate_cents_per_minute).toBe(null)
    const sums = async (user: TestUser) => {
      const stats = (await user.get('/api/client/stats')).body
      const { today } = (await user.get('/api/client/overview')).body
      return [stats.spend_total_cents, stats.spend_this_month_cents, today.running_cents].map(typeOf)
    }
    const typeOf = (cents: unknown) => (cents === null ? 'hidden' : typeof cents)
    expect(await sums(owner)).toEqual(Array(3).fill('number'))
    expect(await sums(viewer)).toEqual(Array(3).fill('hidden'))
    await link.close()
  })
})

describe('a removed member', () => {
  test('does not start what was planned for the team, nor is the team charged for it', async () => {
    const robot = await teamRobot(owner)
    const link = (await world.connect(robot)).beat()
    const user = await world.operator()
    await addMember(world, teamId, user, 'operator')
    const operator = await user.actingFor(teamId)
    const scheduledFor = new Date(Date.now() + 3_600_000).toISOString()
    const planned = await waitFor(async () => {
      const reply = await operator.post('/api/sessions', { robotId: robot.id, scheduledFor })
      expect(reply.status).toBe(201)
      return reply
    })
    expect((await owner.delete(`/api/organizations/${teamId}/members/${user.id}`)).status).toBe(204)
    const path = `/api/sessions/${planned.body.sessionId}`
    expect((await user.patch(path, { action: 'start' })).status).toBe(404)
    const { starts } = world.platform.sessions
    const session = await world.platform.core.db
      .selectFrom('sessions')
      .selectAll()
      .where('id', '=', planned.body.sessionId)
      .executeTakeFirstOrThrow()
    await expect(starts.startScheduled(session)).rejects.toMatchObject({ status: 403 })
    expect((await owner.patch(path, { action: 'cancel' })).body).toMatchObject({ status: 'CANCELLED' })
    await link.close()
  })

  test('is out at once: sockets at hub and gateway, keys and requests; the robot halts', async () => {
    const robot = await teamRobot(owner)
    const link = (await world.connect(robot)).beat()
    const operator = await member('operator')
    const { key } = await operator.key()
    const hub = await operator.hub()
    await hub.send('robots:watch')
    const started = await waitFor(async () => {
      const reply = await operator.post('/api/sessions', { robotId: robot.id })
      expect(reply.status).toBe(201)
      return reply
    })
    const driver = await world.drive(operator, started.body.sessionId)
    await driver.next('state')
    const removed = await owner.delete(`/api/organizations/${teamId}/members/${operator.id}`)
    expect(removed.status).toBe(204)
    expect(await driver.closed).toBe(4403)
    await waitFor(() => expect(hub.socket.connected).toBe(false))
    const refused = await operator.get('/api/client/robots')
    expect(refused.status).toBe(404)
    const withKey = await fetch(`${world.baseUrl}/api/client/robots`, {
      headers: { Authorization: `Bearer ${key}` },
    })
    expect(withKey.status).toBe(401)
    await waitFor(async () =>
      expect((await owner.get(`/api/sessions/${started.body.sessionId}`)).body.status).toBe('PAUSED'),
    )
    await owner.patch(`/api/sessions/${started.body.sessionId}`, { action: 'end' })
    await link.close()
  })
})

describe('a robot', () => {
  test('is transferred to another organization of its owner; its past stays', async () => {
    const robot = await teamRobot(owner)
    const target = await createTeam(founder, 'Target')
    const path = `/api/client/robots/${robot.id}/transfer`
    const foreign = await world.client()
    expect((await owner.post(path, { organizationId: foreign.id })).status).toBe(404)
    expect((await (await member('admin')).post(path, { organizationId: target })).status).toBe(403)
    expect((await owner.post(path, { organizationId: target })).status).toBe(204)
    expect((await owner.get(`/api/client/robots/${robot.id}`)).status).toBe(404)
    const there = await founder.actingFor(target)
    expect((await there.get(`/api/client/robots/${robot.id}`)).status).toBe(200)
  })

  test('is counted for its organization and its group, wherever it goes', async () => {
    const [north, south] = [await group('Counted north'), await group('Counted south')]
    const robots = [await teamRobot(owner), await teamRobot(owner, { group_id: north })]
    robots.push(await teamRobot(owner, { group_id: north }), await teamRobot(owner, { group_id: south }))
    const [moved, removed, transferred] = robots.map(({ id }) => `/api/client/robots/${id}`)
    const limited = await member('viewer', [north, south])
    const totals = async () => {
      const replies = await Promise.all(
        [owner, limited].map((user) => user.get('/api/client/robots?limit=1')),
      )
      return replies.map(({ headers }) => Number(headers.get('X-Total-Count')))
    }
    const [all = 0, ofGroups] = await totals()
    expect(ofGroups).toBe(3)
    await owner.patch(moved!, { group_id: south })
    expect(await totals()).toEqual([all, 4])
    expect((await owner.delete(removed!)).status).toBe(204)
    expect(await totals()).toEqual([all - 1, 3])
    const target = await createTeam(founder, 'Another target')
    expect((await owner.post(`${transferred}/transfer`, { organizationId: target })).status).toBe(204)
    expect(await totals()).toEqual([all - 2, 2])
    expect((await owner.delete(`/api/organizations/${teamId}/groups/${south}`)).status).toBe(204)
    expect(await totals()).toEqual([all - 2, 0])
    const { rows } = await sql`
      select id, robots from robot_counts where robots > 0
      except all (
        select owner_id, count(*)::int from robots where deleted_at is null group by owner_id
        union all
        select group_id, count(*)::int from robots where deleted_at is null and group_id is not null group by group_id)`.execute(
      world.platform.core.db,
    )
    expect(rows).toEqual([])
  })

  test('is stopped by every member who sees it, and its notifications reach those who look after it', async () => {
    const robot = await teamRobot(owner)
    const link = (await world.connect(robot)).beat()
    const viewer = await member('viewer')
    const supervisor = await member('supervisor')
    const outsider = await world.operator()
    const started = await waitFor(async () => {
      const reply = await outsider.post('/api/sessions', { robotId: robot.id })
      expect(reply.status).toBe(201)
      return reply
    })
    const path = `/api/sessions/${started.body.sessionId}`
    expect((await viewer.patch(path, { action: 'pause' })).status).toBe(403)
    const stopped = await viewer.patch(path, { action: 'emergency_stop', reason: 'smoke' })
    expect(stopped).toMatchObject({ status: 200, body: { control: { stop: { by_role: 'client' } } } })
    expect(stopped.body.control.stop.may_clear).toBe(false)
    expect((await viewer.patch(path, { action: 'clear_stop' })).status).toBe(403)
    const types = async (user: TestUser) =>
      (await user.get('/api/notifications')).body.notifications.map(({ type }: { type: string }) => type)
    expect(await types(supervisor)).toEqual(expect.arrayContaining(['session.started', 'session.stopped']))
    expect(await types(viewer)).toEqual([])
    expect((await supervisor.patch(path, { action: 'clear_stop' })).status).toBe(200)
    expect((await supervisor.patch(path, { action: 'end' })).status).toBe(200)
    await link.close()
  })
})
