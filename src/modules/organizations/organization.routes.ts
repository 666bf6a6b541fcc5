import { z } from 'zod'
import { notFound } from '../../core/errors/errors.ts'
import { type Caller, type Endpoint, endpoint, idParams } from '../../core/http/endpoint.ts'
import { requireCan, requirePlatformSignIn } from '../../core/permissions/authorization.ts'
import type { Invitations } from './invitation.service.ts'
import {
  CreatedInvitation,
  CreateInvitation,
  CreateOrganization,
  GroupBody,
  GroupView,
  groupParams,
  InvitationView,
  invitationParams,
  ListMembers,
  MemberView,
  memberParams,
  OrganizationView,
  ReceivedInvitation,
  tokenParams,
  UpdateMember,
  UpdateOrganization,
} from './organization.schema.ts'
import type { OrganizationService } from './organization.service.ts'

export interface OrganizationRouteDeps {
  readonly organizations: OrganizationService
  readonly invitations: Invitations
}

const reading = { action: 'organization.read' } as const
const managing = { action: 'members.manage' } as const

/** Requires that a request acts for the organization of its path. @throws 404, as for an unknown organization */
function requireActingFor({ organization }: Caller, id: string): void {
  if (organization.id !== id) throw notFound('Organization')
}

/** Returns the routes of organizations, their members, groups and invitations. */
export const organizationEndpoints = (deps: OrganizationRouteDeps): Endpoint[] => [
  ...ownEndpoints(deps),
  ...memberEndpoints(deps),
  ...invitationEndpoints(deps),
  ...groupEndpoints(deps),
]

function ownEndpoints({ organizations }: OrganizationRouteDeps): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api/organizations',
      list: true,
      summary: 'Lists the organizations that you may act for, your personal one first',
      access: { scope: 'read' },
      response: [200, z.object({ organizations: z.array(OrganizationView) })],
      run: async ({ caller }) => ({ organizations: await organizations.list(caller) }),
    }),
    endpoint({
      method: 'post',
      path: '/api/organizations',
      summary: 'Creates a team, whose owner you are',
      access: { sessionOnly: true },
      body: CreateOrganization,
      response: [201, OrganizationView],
      errors: {
        403: { sign_in_required: 'when you are signed in with the provider of an organization' },
        409: { organization_limit_reached: 'when you own as many organizations as you may' },
      },
      run: async ({ caller, body }) => {
        requirePlatformSignIn(caller)
        return await organizations.create(caller, body.name)
      },
    }),
    endpoint({
      method: 'get',
      path: '/api/organizations/{id}',
      summary: 'Returns an organization, and what you are in it',
      access: reading,
      params: idParams('organization'),
      response: [200, OrganizationView],
      run: async ({ caller, params }) => {
        requireActingFor(caller, params.id)
        return await organizations.get(caller, params.id)
      },
    }),
    endpoint({
      method: 'patch',
      path: '/api/organizations/{id}',
      summary: 'Changes the name of a team, or how many robots a supervisor may control at a time',
      access: { action: 'organization.write' },
      params: idParams('organization'),
      body: UpdateOrganization,
      response: [200, OrganizationView],
      errors: { 409: { personal_organization: 'when it is a personal organization' } },
      run: async ({ caller, params, body }) => {
        requireActingFor(caller, params.id)
        return await organizations.update(caller, params.id, body)
      },
    }),
  ]
}

function memberEndpoints({ organizations }: OrganizationRouteDeps): Endpoint[] {
  const ownerErrors = {
    403: { permission_required: 'when it takes an owner of the organization' },
    409: {
      last_owner: 'when the member is the last owner',
      personal_organization: 'when it is the person of a personal organization',
    },
  } as const
  return [
    endpoint({
      method: 'get',
      path: '/api/organizations/{id}/members',
      list: true,
      summary: 'Lists the members of an organization, the oldest first',
      access: reading,
      params: idParams('organization'),
      query: ListMembers,
      response: [200, z.object({ members: z.array(MemberView) })],
      headers: ['X-Next-Cursor'],
      run: async ({ caller, params, query, http }) => {
        requireActingFor(caller, params.id)
        const { members, next } = await organizations.members(caller, params.id, query)
        if (next !== undefined) http.set('X-Next-Cursor', next)
        return { members }
      },
    }),
    endpoint({
      method: 'patch',
      path: '/api/organizations/{id}/members/{user_id}',
      summary: 'Changes the role or the groups of a member; open sockets that are no longer allowed close',
      access: managing,
      params: memberParams,
      body: UpdateMember,
      response: [204],
      errors: ownerErrors,
      run: async ({ caller, params, body }) => {
        requireActingFor(caller, params.id)
        await organizations.changeMember(caller, params.id, params.user_id, body)
      },
    }),
    endpoint({
      method: 'delete',
      path: '/api/organizations/{id}/members/{user_id}',
      summary: 'Removes a member, or leaves the organization; sockets, downloads and keys end at once',
      access: { action: 'organization.read' }, // to leave; removing others takes more
      params: memberParams,
      response: [204],
      errors: ownerErrors,
      run: async ({ caller, params }) => {
        requireActingFor(caller, params.id)
        if (params.user_id !== caller.userId) requireCan(caller, 'members.manage')
        await organizations.removeMember(caller, params.id, params.user_id)
      },
    }),
  ]
}

function invitationEndpoints({ invitations }: OrganizationRouteDeps): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api/organizations/{id}/invitations',
      list: true,
      summary: 'Lists the open invitations of an organization, the newest first',
      access: managing,
      params: idParams('organization'),
      response: [200, z.object({ invitations: z.array(InvitationView) })],
      run: async ({ caller, params }) => {
        requireActingFor(caller, params.id)
        return { invitations: await invitations.list(params.id) }
      },
    }),
    endpoint({
      method: 'post',
      path: '/api/organizations/{id}/invitations',
      summary: 'Invites a person by mail, for seven days; only the mail contains the token',
      access: managing,
      params: idParams('organization'),
      body: CreateInvitation,
      response: [201, CreatedInvitation],
      errors: {
        403: { permission_required: 'when you invite an owner and are none' },
        409: {
          already_member: 'when a member has this address',
          invitation_exists: 'when the address has an open invitation',
          organization_limit_reached: 'when the organization has as many open invitations as it may',
        },
      },
      run: async ({ caller, params, body }) => {
        requireActingFor(caller, params.id)
        return await invitations.create(caller, params.id, body)
      },
    }),
    endpoint({
      method: 'delete',
      path: '/api/organizations/{id}/invitations/{invitation_id}',
      summary: 'Revokes an invitation',
      access: managing,
      params: invitationParams,
      response: [204],
      run: async ({ caller, params }) => {
        requireActingFor(caller, params.id)
        await invitations.revoke(caller, params.id, params.invitation_id)
      },
    }),
    endpoint({
      method: 'get',
      path: '/api/invitations',
      list: true,
      summary: 'Lists the open invitations to your verified address',
      access: { sessionOnly: true },
      response: [200, z.object({ invitations: z.array(ReceivedInvitation) })],
      run: async ({ caller }) => ({ invitations: await invitations.received(caller.userId) }),
    }),
    endpoint({
      method: 'post',
      path: '/api/invitations/{token}/accept',
      summary: 'Accepts an invitation, once: you become a member',
      access: { sessionOnly: true },
      params: tokenParams,
      response: [200, z.object({ organization_id: idParams('organization').shape.id })],
      errors: {
        403: { sign_in_required: 'when you are signed in with the provider of an organization' },
        404: { invitation_invalid: 'when the invitation is unknown, has expired, was used or was revoked' },
        409: {
          already_member: 'when you are a member',
          organization_limit_reached: 'when you are a member of as many organizations as you may',
        },
      },
      run: async ({ caller, params }) => {
        requirePlatformSignIn(caller)
        return { organization_id: await invitations.accept(caller, params.token) }
      },
    }),
  ]
}

function groupEndpoints({ organizations }: OrganizationRouteDeps): Endpoint[] {
  const nameErrors = { 409: { group_name_taken: 'when another group has this name' } } as const
  return [
    endpoint({
      method: 'get',
      path: '/api/organizations/{id}/groups',
      list: true,
      summary: 'Lists the groups of an organization by name',
      access: reading,
      params: idParams('organization'),
      response: [200, z.object({ groups: z.array(GroupView) })],
      run: async ({ caller, params }) => {
        requireActingFor(caller, params.id)
        return { groups: await organizations.groups(params.id) }
      },
    }),
    endpoint({
      method: 'post',
      path: '/api/organizations/{id}/groups',
      summary: 'Creates a group',
      access: managing,
      params: idParams('organization'),
      body: GroupBody,
      response: [201, GroupView],
      errors: {
        409: {
          ...nameErrors[409],
          organization_limit_reached: 'when the organization has as many groups as it may',
        },
      },
      run: async ({ caller, params, body }) => {
        requireActingFor(caller, params.id)
        return await organizations.createGroup(caller, params.id, body.name)
      },
    }),
    endpoint({
      method: 'patch',
      path: '/api/organizations/{id}/groups/{group_id}',
      summary: 'Renames a group',
      access: managing,
      params: groupParams,
      body: GroupBody,
      response: [204],
      errors: nameErrors,
      run: async ({ caller, params, body }) => {
        requireActingFor(caller, params.id)
        await organizations.renameGroup(caller, params.id, params.group_id, body.name)
      },
    }),
    endpoint({
      method: 'delete',
      path: '/api/organizations/{id}/groups/{group_id}',
      summary: 'Deletes a group; its robots stay without one',
      access: managing,
      params: groupParams,
      response: [204],
      run: async ({ caller, params }) => {
        requireActingFor(caller, params.id)
        await organizations.removeGroup(caller, params.id, params.group_id)
      },
    }),
  ]
}
