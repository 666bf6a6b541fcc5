import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createDomains } from '../../../src/modules/provisioning/domain.service.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const USER = 'urn:ietf:params:scim:schemas:core:2.0:User'
const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group'
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'
const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error'
const LIST = 'urn:ietf:params:scim:api:messages:2.0:ListResponse'

let world: World
let owner: TestUser
beforeAll(async () => {
  world = await createWorld()
  owner = await world.client()
})
afterAll(() => world[Symbol.asyncDispose]())

/** A team of the owner, with a SCIM client. */
async function createTeam() {
  const { db } = world.platform.core
  const id = randomUUID()
  await db.insertInto('organizations').values({ id, name: 'Team', kind: 'team' }).execute()
  const join = (userId: string, role: 'owner' | 'admin' | 'viewer') =>
    db.insertInto('organization_members').values({ organization_id: id, user_id: userId, role }).execute()
  await join(owner.id, 'owner')
  const asOwner = async (method: string, path: string, body?: unknown) => {
    const reply = await fetch(`${world.baseUrl}/api/organizations/${id}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${owner.token}`,
        'Wheelhouse-Organization': id,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await reply.text()
    return { status: reply.status, body: text ? JSON.parse(text) : undefined }
  }
  const made = await asOwner('POST', '/scim-tokens', { name: 'Entra' })
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  const token: string = made.body.token
  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const reply = await fetch(`${world.baseUrl}/scim/v2/${id}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'Content-Type': 'application/scim+json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await reply.text()
    return { status: reply.status, headers: reply.headers, body: text ? JSON.parse(text) : undefined }
  }
  const members = async () =>
    Object.fromEntries(
      (
        await db
          .selectFrom('organization_members')
          .select(['user_id', 'role'])
          .where('organization_id', '=', id)
          .execute()
      ).map(({ user_id, role }) => [user_id, role]),
    )
  const get = (path: string) => call('GET', path)
  return { id, token, made: made.body, join, asOwner, call, get, members }
}
type Team = Awaited<ReturnType<typeof createTeam>>

let team: Team
beforeEach(async () => {
  team = await createTeam()
})

const emailOf = async (user: TestUser): Promise<string> => (await user.get('/api/auth/profile')).body.email
const filtered = (path: string, filter: string) => team.get(`${path}?filter=${encodeURIComponent(filter)}`)
const newUser = async (userName: string, more: object = {}) => {
  const reply = await team.call('POST', '/Users', { schemas: [USER], userName, active: true, ...more })
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  return reply.body.id as string
}
const patch = (path: string, ...Operations: object[]) =>
  team.call('PATCH', path, { schemas: [PATCH], Operations })

describe('the requests of Microsoft Entra', () => {
  test('test the connection with a user that does not exist', async () => {
    const reply = await filtered('/Users', `userName eq "${randomUUID()}"`)
    expect(reply.status).toBe(200)
    expect(reply.headers.get('Content-Type')).toMatch(/^application\/scim\+json/)
    expect(reply.body).toEqual({
      schemas: [LIST],
      totalResults: 0,
      startIndex: 1,
      itemsPerPage: 0,
      Resources: [],
    })
  })

  test('create, read, change, disable and remove a user', async () => {
    const created = await team.call('POST', '/Users', {
      schemas: [USER, ENTERPRISE],
      externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
      userName: 'Test_User_ab6490ee@testuser.com',
      active: true,
      emails: [{ primary: true, type: 'work', value: 'Test_User_fd0ea19b@testuser.com' }],
      meta: { resourceType: 'User' },
      name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
      roles: [],
    })
    expect(created.status, JSON.stringify(created.body)).toBe(201)
    const path = `/Users/${created.body.id}`
    expect(created.headers.get('Location')).toBe(`${world.baseUrl}/scim/v2/${team.id}${path}`)
    expect(created.body).toMatchObject({
      schemas: [USER],
      userName: 'Test_User_ab6490ee@testuser.com',
      externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
      active: true,
      name: { familyName: 'familyName' },
      meta: { resourceType: 'User', location: `${world.baseUrl}/scim/v2/${team.id}${path}` },
    })
    expect(
      (await filtered('/Users', 'userName eq "test_user_AB6490ee@testuser.com"')).body.totalResults,
    ).toBe(1)

    const changed = await patch(
      path,
      { op: 'Replace', path: 'emails[type eq "work"].value', value: 'updatedEmail@microsoft.com' },
      { op: 'Replace', path: 'name.familyName', value: 'updatedFamilyName' },
      { op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '+1 5' },
      { op: 'Add', path: `${ENTERPRISE}:department`, value: 'Robots' },
      { op: 'Add', path: `${ENTERPRISE}:manager`, value: 'boss' },
    )
    expect(changed.status, JSON.stringify(changed.body)).toBe(200)
    expect(changed.body).toMatchObject({
      emails: [{ type: 'work', value: 'updatedEmail@microsoft.com', primary: true }],
      name: { givenName: 'givenName', familyName: 'updatedFamilyName' },
      phoneNumbers: [{ type: 'mobile', value: '+1 5' }],
      [ENTERPRISE]: { department: 'Robots', manager: { value: 'boss' } },
    })

    expect((await patch(path, { op: 'Replace', path: 'active', value: 'False' })).body.active).toBe(false)
    expect((await patch(path, { op: 'Add', path: 'active', value: 'True' })).body.active).toBe(true)
    expect(
      (await patch(path, { op: 'replace', value: { active: 'False', 'name.givenName': 'X' } })).body,
    ).toMatchObject({
      active: false,
      name: { givenName: 'X', familyName: 'updatedFamilyName' },
    })
    expect((await team.call('DELETE', path)).status).toBe(204)
    const gone = await team.get(path)
    expect(gone.status).toBe(404)
    expect(gone.body).toMatchObject({ schemas: [ERROR], status: '404' })
  })

  test('create, read, fill, empty, rename and remove a group', async () => {
    const [a, b] = [await newUser('a@testuser.com'), await newUser('b@testuser.com')]
    const created = await team.call('POST', '/Groups', {
      schemas: [GROUP, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
      externalId: '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159',
      displayName: 'displayName',
      meta: { resourceType: 'Group' },
    })
    expect(created.status, JSON.stringify(created.body)).toBe(201)
    const path = `/Groups/${created.body.id}`
    expect((await team.get(`${path}?excludedAttributes=members`)).body.members).toBeUndefined()
    const found = await team.get(
      `/Groups?excludedAttributes=members&filter=${encodeURIComponent('displayName eq "DisplayName"')}`,
    )
    expect(found.body).toMatchObject({ totalResults: 1, Resources: [{ displayName: 'displayName' }] })

    const add = {
      op: 'Add',
      path: 'members',
      value: [
        { $ref: null, value: a },
        { $ref: null, value: b },
      ],
    }
    expect((await patch(path, add)).body.members).toHaveLength(2)
    expect(
      (await filtered('/Groups', `id eq "${created.body.id}" and members eq "${a}"`)).body.totalResults,
    ).toBe(1)
    const remove = { op: 'Remove', path: 'members', value: [{ $ref: null, value: a }] }
    expect((await patch(path, remove)).body.members).toMatchObject([{ value: b }])
    const rename = { op: 'Replace', path: 'displayName', value: 'new name' }
    expect((await patch(path, rename)).body.displayName).toBe('new name')
    expect(
      (await filtered('/Groups', `id eq "${created.body.id}" and members eq "${a}"`)).body.totalResults,
    ).toBe(0)
    expect((await team.call('DELETE', path)).status).toBe(204)
    expect((await team.get(`/Users/${b}`)).body.groups).toBeUndefined()
  })
})

describe('the requests of Okta', () => {
  test('find, create, replace and deactivate a user', async () => {
    const query = `?filter=${encodeURIComponent('userName eq "test.user@okta.local"')}&startIndex=1&count=100`
    expect((await team.get(`/Users${query}`)).body.totalResults).toBe(0)
    const body = {
      schemas: [USER],
      userName: 'test.user@okta.local',
      name: { givenName: 'Test', familyName: 'User' },
      emails: [{ primary: true, value: 'test.user@okta.local', type: 'work' }],
      displayName: 'Test User',
      locale: 'en-US',
      externalId: '00ujl29u0le5T6Aj10h7',
      groups: [],
      password: '1mz050nq',
      active: true,
    }
    const created = await team.call('POST', '/Users', body)
    expect(created.status, JSON.stringify(created.body)).toBe(201)
    expect(created.body).toMatchObject({ displayName: 'Test User', locale: 'en-US' })
    expect(JSON.stringify(created.body)).not.toContain('1mz050nq')
    const again = await team.call('POST', '/Users', { ...body, userName: 'TEST.user@okta.local' })
    expect(again.status).toBe(409)
    expect(again.body).toMatchObject({ schemas: [ERROR], status: '409', scimType: 'uniqueness' })

    const path = `/Users/${created.body.id}`
    const replaced = await team.call('PUT', path, {
      ...created.body,
      name: { givenName: 'Another', familyName: 'User' },
      displayName: 'Another User',
      groups: [],
    })
    expect(replaced.status, JSON.stringify(replaced.body)).toBe(200)
    expect(replaced.body).toMatchObject({ id: created.body.id, name: { givenName: 'Another' } })
    expect((await patch(path, { op: 'replace', value: { active: false } })).body.active).toBe(false)
    expect((await filtered('/Users', 'externalId eq "00ujl29u0le5T6Aj10h7"')).body.totalResults).toBe(1)
    expect((await filtered('/Users', 'externalId eq "00UJL29u0le5T6Aj10h7"')).body.totalResults).toBe(0)
  })

  test('push a group', async () => {
    const [a, b] = [await newUser('a@okta.local'), await newUser('b@okta.local')]
    const created = await team.call('POST', '/Groups', { schemas: [GROUP], displayName: 'Push', members: [] })
    const path = `/Groups/${created.body.id}`
    const rename = { op: 'replace', value: { id: created.body.id, displayName: 'Pushed' } }
    expect((await patch(path, rename)).body.displayName).toBe('Pushed')
    const many = { op: 'add', path: 'members', value: [{ value: a, display: 'a' }] }
    const one = { op: 'remove', path: `members[value eq "${a}"]` }
    expect((await patch(path, many, one, { ...many, value: [{ value: b }] })).body.members).toMatchObject([
      { value: b },
    ])
    const whole = { op: 'replace', path: 'members', value: [{ value: a }, { value: b }] }
    expect((await patch(path, whole)).body.members).toHaveLength(2)
    const put = await team.call('PUT', path, {
      schemas: [GROUP],
      displayName: 'Pushed',
      members: [{ value: a }],
    })
    expect(put.body.members).toMatchObject([{ value: a, display: 'a@okta.local' }])
    expect((await team.get(`/Users/${a}`)).body.groups).toMatchObject([
      { value: created.body.id, display: 'Pushed' },
    ])
    expect((await patch(path, { op: 'remove', path: 'members' })).body.members).toBeUndefined()
    const unknown = await patch(path, { op: 'add', path: 'members', value: [{ value: randomUUID() }] })
    expect(unknown).toMatchObject({ status: 400, body: { schemas: [ERROR], scimType: 'invalidValue' } })
  })
})

describe('RFC 7644', () => {
  test('the server describes itself', async () => {
    expect((await team.get('/ServiceProviderConfig')).body).toMatchObject({
      patch: { supported: true },
      bulk: { supported: false },
      filter: { supported: true, maxResults: 200 },
    })
    const types = await team.get('/ResourceTypes')
    expect(types.body.Resources.map(({ id }: { id: string }) => id)).toEqual(['User', 'Group'])
    expect((await team.get('/ResourceTypes/Group')).body.endpoint).toBe('/Groups')
    const schemas = await team.get('/Schemas')
    expect(schemas.body.Resources.map(({ id }: { id: string }) => id)).toEqual([USER, ENTERPRISE, GROUP])
    expect((await team.get(`/Schemas/${USER}`)).body.name).toBe('User')
    expect((await team.get('/Schemas?filter=a')).status).toBe(403)
    expect((await team.get('/Schemas/none')).status).toBe(404)
    expect((await team.call('POST', '/Bulk', {})).status).toBe(404)
    expect((await team.call('DELETE', '/Users')).status).toBe(405)
  })

  test.each([
    ['userName Eq "bjensen@example.com"', 1],
    [`name.familyName co "O'Malley"`, 1],
    ['userName sw "J"', 1],
    [`${USER}:userName sw "J"`, 1],
    ['title pr', 1],
    ['meta.lastModified gt "2011-05-13T04:42:34Z"', 2],
    ['meta.lastModified le "2011-05-13T04:42:34Z"', 0],
    ['title pr and userType eq "Employee"', 1],
    ['title pr or userType eq "Intern"', 2],
    ['userType eq "Employee" and (emails co "example.com" or emails.value co "example.org")', 1],
    ['userType ne "Employee" and not (emails co "example.com" or emails.value co "example.org")', 1],
    ['userType eq "Employee" and (emails.type eq "work")', 1],
    ['userType eq "Employee" and emails[type eq "work" and value co "@example.com"]', 1],
    ['emails[type eq "work" and value co "@example.com"] or ims[type eq "xmpp" and value co "@foo.com"]', 1],
    ['active eq true', 2],
    ['active eq "False"', 0],
    [`${ENTERPRISE}:department eq "tour operations"`, 1],
    ['not (userName sw "b")', 1],
    ['id eq "x"', 0],
  ])('finds users by %s', async (filter, expected) => {
    await newUser('bjensen@example.com', {
      userType: 'Employee',
      title: 'Tour Guide',
      name: { familyName: 'Jensen' },
      emails: [{ value: 'bjensen@example.com', type: 'work' }],
      [ENTERPRISE]: { department: 'Tour Operations' },
    })
    await newUser('jsmith@elsewhere.net', { userType: 'Intern', name: { familyName: "O'Malley" } })
    const reply = await filtered('/Users', filter)
    expect(reply.status, JSON.stringify(reply.body)).toBe(200)
    expect(reply.body.totalResults).toBe(expected)
  })

  test('lists are paged from 1, and contain the selected attributes', async () => {
    for (const name of ['a', 'b', 'c']) await newUser(`${name}@example.com`, { displayName: name })
    const page = await team.get('/Users?startIndex=2&count=1')
    expect(page.body).toMatchObject({
      totalResults: 3,
      startIndex: 2,
      itemsPerPage: 1,
      Resources: [{ userName: 'b@example.com' }],
    })
    expect((await team.get('/Users?startIndex=0&count=0')).body).toMatchObject({
      totalResults: 3,
      startIndex: 1,
      itemsPerPage: 0,
    })
    expect((await team.get('/Users?startIndex=9')).body).toMatchObject({ totalResults: 3, Resources: [] })
    const [first] = (await team.get('/Users?attributes=userName')).body.Resources
    expect(first.userName).toBe('a@example.com')
    expect(first.displayName).toBeUndefined()
    expect((await team.get('/Users?count=many')).body).toMatchObject({
      schemas: [ERROR],
      scimType: 'invalidValue',
    })
  })
})

describe('input that is not valid', () => {
  test.each([
    'userName',
    'userName eq',
    'userName eq "x',
    '(userName eq "x"',
    'unknown eq "x"',
    'password eq "x"',
    'emails.unknown eq "x"',
    'active gt true',
    '__proto__.polluted eq "x"',
    'constructor.prototype.polluted eq "x"',
    `userName eq "${'x'.repeat(600)}"`,
    // As alternatives, these would be four million.
    `${'(title pr or userType pr) and '.repeat(16)}title pr`,
    `${'('.repeat(200)}title pr`,
  ])('the filter %s is refused', async (filter) => {
    const reply = await filtered('/Users', filter)
    expect(reply.body).toMatchObject({ schemas: [ERROR], status: '400', scimType: 'invalidFilter' })
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })

  test.each([
    [[]],
    [[{ op: 'move', path: 'title', value: 'x' }]],
    [[{ op: 'remove' }]],
    [[{ op: 'add', path: 'title' }]],
    [[{ op: 'add', path: 'nothing', value: 'x' }]],
    [[{ op: 'replace', path: 'id', value: 'x' }]],
    [[{ op: 'replace', path: 'userName', value: '' }]],
    [[{ op: 'replace', path: 'constructor.prototype.polluted', value: 'x' }]],
    [[{ op: 'replace', value: { 'constructor.prototype.polluted': 'x' } }]],
    [[{ op: 'add', path: 'emails', value: [{ 'constructor.prototype.polluted': 'x' }] }]],
    [[{ op: 'add', path: 'title', value: 'a\u0000b' }]],
    [Array(101).fill({ op: 'add', path: 'title', value: 'x' })],
  ])('the patch %j is refused', async (operations) => {
    const id = await newUser('x@example.com')
    const reply = await patch(`/Users/${id}`, ...operations)
    expect(reply.status, JSON.stringify(reply.body)).toBe(400)
    expect(reply.body).toMatchObject({ schemas: [ERROR], status: '400', detail: expect.any(String) })
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })

  test('other bodies and media types are refused in the format of the standard', async () => {
    expect((await team.call('POST', '/Users', [])).body).toMatchObject({
      status: '400',
      scimType: 'invalidSyntax',
    })
    expect((await team.call('POST', '/Users', { schemas: [GROUP], userName: 'x' })).body).toMatchObject({
      status: '400',
    })
    expect((await team.call('POST', '/Users', { schemas: [USER] })).body).toMatchObject({ status: '400' })
    expect((await team.call('POST', '/Users')).body).toMatchObject({ status: '400' })
    const text = await team.call('POST', '/Users', {}, { 'Content-Type': 'text/plain' })
    expect(text.body).toMatchObject({ schemas: [ERROR], status: '415' })
  })
})

describe('tokens', () => {
  test('end with their revocation, and work for their own organization only', async () => {
    expect((await team.asOwner('GET', '/scim-tokens')).body.scim_tokens).toMatchObject([{ name: 'Entra' }])
    const other = await createTeam()
    const foreign = { Authorization: `Bearer ${other.token}` }
    const refused = await team.call('GET', '/Users', undefined, foreign)
    expect(refused).toMatchObject({ status: 401, body: { schemas: [ERROR], status: '401' } })
    expect(
      (await team.call('GET', '/Users', undefined, { Authorization: `Bearer ${owner.token}` })).status,
    ).toBe(401)
    const id = await newUser('x@example.com')
    expect((await other.get(`/Users/${id}`)).status).toBe(404)
    expect((await other.get('/Users')).body.totalResults).toBe(0)
    const member = { op: 'add', path: 'members', value: [{ value: id }] }
    const group = await other.call('POST', '/Groups', { schemas: [GROUP], displayName: 'G' })
    const added = await other.call('PATCH', `/Groups/${group.body.id}`, {
      schemas: [PATCH],
      Operations: [member],
    })
    expect(added.status).toBe(400)

    expect((await team.asOwner('DELETE', `/scim-tokens/${other.made.id}`)).status).toBe(404)
    expect((await team.asOwner('DELETE', `/scim-tokens/${team.made.id}`)).status).toBe(204)
    expect((await team.get('/Users')).status).toBe(401)
  })

  test('are for owners of teams', async () => {
    expect((await owner.post(`/api/organizations/${owner.id}/scim-tokens`, { name: 'x' })).status).toBe(409)
    const stranger = await world.client()
    expect((await stranger.post(`/api/organizations/${team.id}/scim-tokens`, { name: 'x' })).status).toBe(404)
  })
})

describe('members', () => {
  test('get the role of their groups, and lose membership and sockets with the account', async () => {
    const person = await world.client()
    await team.join(person.id, 'viewer')
    const mapping = { name: 'Robot operators', role: 'operator' }
    expect((await team.asOwner('POST', '/role-mappings', mapping)).status).toBe(201)
    expect((await team.asOwner('POST', '/role-mappings', mapping)).status).toBe(409)
    const id = await newUser((await emailOf(person)).toUpperCase())
    expect((await team.members())[person.id]).toBe('viewer')

    const group = await team.call('POST', '/Groups', {
      schemas: [GROUP],
      displayName: 'robot OPERATORS',
      members: [{ value: id }],
    })
    expect(group.status, JSON.stringify(group.body)).toBe(201)
    expect((await team.members())[person.id]).toBe('operator')
    await patch(`/Groups/${group.body.id}`, { op: 'remove', path: `members[value eq "${id}"]` })
    expect((await team.members())[person.id]).toBe('viewer')

    const hub = await person.hub()
    const { permissions_version: before } = await world.platform.identity.users.byId(person.id)
    await patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: 'False' })
    expect((await team.members())[person.id]).toBeUndefined()
    const { permissions_version: after } = await world.platform.identity.users.byId(person.id)
    expect(after).toBeGreaterThan(before)
    hub.close()
    await patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: true })
    expect((await team.members())[person.id]).toBe('viewer')
    expect((await team.call('DELETE', `/Users/${id}`)).status).toBe(204)
    expect((await team.members())[person.id]).toBeUndefined()
  })

  test('whom an admin has removed do not return with an unrelated change', async () => {
    const person = await world.client()
    await team.join(person.id, 'viewer')
    const id = await newUser(await emailOf(person))
    await world.platform.core.db
      .deleteFrom('organization_members')
      .where('organization_id', '=', team.id)
      .where('user_id', '=', person.id)
      .execute()
    await patch(`/Users/${id}`, { op: 'replace', path: 'title', value: 'x' })
    expect((await team.members())[person.id]).toBeUndefined()
  })

  test('who are the last owner stay', async () => {
    const id = await newUser(await emailOf(owner))
    for (const reply of [
      await patch(`/Users/${id}`, { op: 'replace', value: { active: false } }),
      await team.call('DELETE', `/Users/${id}`),
    ]) {
      expect(reply.status).toBe(409)
      expect(reply.body).toMatchObject({ schemas: [ERROR], status: '409' })
    }
    expect(await team.members()).toEqual({ [owner.id]: 'owner' })
    expect((await team.get(`/Users/${id}`)).body.active).toBe(true)
  })

  test('lose the connections of the organization at once', async () => {
    const person = await world.client()
    await team.join(person.id, 'viewer')
    const id = await newUser(await emailOf(person))
    const lost: string[] = []
    const unsubscribe = world.platform.core.bus.subscribe(
      'permissions.lost',
      ({ userId }) => void lost.push(userId),
    )
    await patch(`/Users/${id}`, { op: 'replace', value: { active: false } })
    await waitFor(() => expect(lost).toContain(person.id))
    unsubscribe()
  })
})

describe('domains', () => {
  /** The domains of a team, with records instead of name servers. */
  const withRecords = (records: Record<string, string[][]>) =>
    createDomains({
      ...world.platform.core,
      resolveTxt: async (name) =>
        records[name] ?? Promise.reject(Object.assign(new Error(name), { code: 'ENOTFOUND' })),
    })

  test('are verified by a TXT record, by one organization each', async () => {
    const domain = `d${randomUUID().slice(0, 8)}.example`
    const added = await team.asOwner('POST', '/domains', { domain: domain.toUpperCase() })
    expect(added.status, JSON.stringify(added.body)).toBe(201)
    expect(added.body).toMatchObject({ domain, txt_name: `_wheelhouse.${domain}`, verified_at: null })
    expect((await team.asOwner('POST', '/domains', { domain })).status).toBe(409)
    expect((await team.asOwner('POST', '/domains', { domain: 'no domain' })).status).toBe(400)

    const none = withRecords({})
    await expect(none.verify(team.id, owner.id, added.body.id)).rejects.toMatchObject({
      code: 'domain_not_verified',
    })
    const { txt_name, txt_value } = added.body
    const halves = [txt_value.slice(0, 9), txt_value.slice(9)]
    const some = withRecords({ [txt_name]: [['other'], halves] })
    expect((await some.verify(team.id, owner.id, added.body.id)).verified_at).toBeInstanceOf(Date)
    expect((await team.asOwner('POST', `/domains/${added.body.id}/verify`)).status).toBe(200)

    const other = await createTeam()
    const second = await other.asOwner('POST', '/domains', { domain })
    const taken = withRecords({ [txt_name]: [[second.body.txt_value]] })
    await expect(taken.verify(other.id, owner.id, second.body.id)).rejects.toMatchObject({
      code: 'domain_taken',
    })
    await expect(taken.verify(team.id, owner.id, second.body.id)).rejects.toMatchObject({ status: 404 })
    const silent = createDomains({
      ...world.platform.core,
      resolveTxt: () => Promise.reject(new Error('no answer')),
    })
    await expect(silent.verify(other.id, owner.id, second.body.id)).rejects.toMatchObject({
      code: 'dns_unavailable',
    })
    expect((await team.asOwner('DELETE', `/domains/${added.body.id}`)).status).toBe(204)
    expect((await team.asOwner('GET', '/domains')).body.domains).toEqual([])
  })

  test('let people whom the organization has provisioned join with their first sign-in', async () => {
    const domain = 'test.local'
    const { body } = await team.asOwner('POST', '/domains', { domain })
    const tokenOf = async (email: string) =>
      world.platform.identity.builtIn!.issueDevToken({ email, name: 'New' })
    const signIn = async (email: string) => {
      const reply = await fetch(`${world.baseUrl}/api/auth/profile`, {
        headers: { Authorization: `Bearer ${await tokenOf(email)}` },
      })
      return ((await reply.json()) as { id: string }).id
    }
    await newUser('early@test.local')
    const early = await signIn('early@test.local')
    expect((await team.members())[early], 'the domain is not verified yet').toBeUndefined()

    await withRecords({ [body.txt_name]: [[body.txt_value]] }).verify(team.id, owner.id, body.id)
    const id = await newUser('New.Person@test.local')
    const joined = await signIn('new.person@test.local')
    expect((await team.members())[joined]).toBe('viewer')
    await newUser('else@where.example')
    const elsewhere = await signIn('else@where.example')
    expect((await team.members())[elsewhere]).toBeUndefined()
    await patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: 'False' })
    expect((await team.members())[joined]).toBeUndefined()
  })
})
