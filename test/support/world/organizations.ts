import { randomUUID } from 'node:crypto'
import type { OrganizationRole } from '@wheelhouse/protocol'
import { expect } from 'vitest'
import type { TestUser } from './test-user.ts'
import type { World } from './world.ts'

/** Creates a team of a user, and returns its id. */
export async function createTeam(owner: TestUser, name = 'Harbour Robotics'): Promise<string> {
  const reply = await owner.post('/api/organizations', { name })
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  return reply.body.id as string
}

/** Makes a user a member, without an invitation. */
export async function addMember(
  world: World,
  organizationId: string,
  user: Pick<TestUser, 'id'>,
  role: OrganizationRole,
  groupIds: string[] | null = null,
): Promise<void> {
  await world.platform.core.db
    .insertInto('organization_members')
    .values({ organization_id: organizationId, user_id: user.id, role, group_ids: groupIds })
    .execute()
}

/** Registers a robot of a team, as its owner. */
export async function teamRobot(owner: TestUser, settings: Record<string, unknown> = {}) {
  const { group_id, operators, ...input } = settings
  const reply = await owner.post('/api/client/robots', {
    name: 'Crane',
    robot_type: 'testbot',
    hardware_id: randomUUID(),
    latency_budget_ms: null,
    ...input,
  })
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  const id = reply.body.id as string
  if (group_id !== undefined || operators !== undefined) {
    const changed = await owner.patch(`/api/client/robots/${id}`, {
      ...(group_id !== undefined && { group_id }),
      ...(operators !== undefined && { operators }),
    })
    expect(changed.status, JSON.stringify(changed.body)).toBe(200)
  }
  return { id, token: reply.body.robot_token as string }
}
