import { exampleIds, idOf, OrganizationRole } from '@wheelhouse/protocol'
import { z } from 'zod'
import { queryCursor } from '../../core/http/cursor.ts'
import { email } from '../../core/http/email-address.ts'
import { line, queryInteger, timestamp } from '../../core/http/fields.ts'

/** Most groups that a member is limited to. */
const MAX_GROUPS_OF_MEMBER = 100
/** Entries of a page of members. */
const MAX_MEMBERS_PER_PAGE = 100

const name = line(100).meta({ examples: ['Harbour Robotics'] })
const groupIds = z
  .array(idOf('group'))
  .max(MAX_GROUPS_OF_MEMBER)
  .nullable()
  .meta({
    description: 'The groups whose robots the member may see; null for all robots of the organization.',
    examples: [[exampleIds.group]],
  })
const role = OrganizationRole.meta({
  description: 'What the member may do. docs/permissions.md lists it.',
  examples: ['operator'],
})

/** Body of POST /api/organizations. */
export const CreateOrganization = z.strictObject({ name })

/** Body of PATCH /api/organizations/{id}. */
export const UpdateOrganization = z
  .strictObject({
    name,
    robots_per_supervisor: z
      .number()
      .int()
      .min(1)
      .max(64)
      .meta({
        description: 'How many robots one supervisor may control at a time.',
        examples: [8],
      }),
  })
  .partial()
  .refine((change) => Object.keys(change).length > 0, 'Name at least one field to change')
export type UpdateOrganization = z.infer<typeof UpdateOrganization>

export const OrganizationView = z
  .object({
    id: idOf('organization'),
    name: z.string().meta({ examples: ['Harbour Robotics'] }),
    kind: z.enum(['personal', 'team']).meta({
      description:
        'personal: that of one person, with the id of the user. team: one that a person has created.',
      examples: ['team'],
    }),
    role,
    group_ids: groupIds,
    robots_per_supervisor: z
      .number()
      .int()
      .meta({ examples: [8] }),
    created_at: timestamp,
  })
  .meta({ id: 'Organization', description: 'An organization, and what you are in it.' })
export type OrganizationView = z.infer<typeof OrganizationView>

export const ListMembers = z.strictObject({
  search: line(200).optional(),
  limit: queryInteger(1, MAX_MEMBERS_PER_PAGE).default(50),
  cursor: queryCursor.optional(),
})
export type ListMembers = z.infer<typeof ListMembers>

export const MemberView = z
  .object({
    user_id: idOf('operator'),
    name: z.string().meta({ examples: ['Grace'] }),
    email: z
      .string()
      .nullable()
      .meta({ description: 'Null for a program, and for members who may not manage members.' }),
    role,
    group_ids: groupIds,
    is_program: z.boolean().meta({ description: 'Whether it is a service account.', examples: [false] }),
    created_at: timestamp,
  })
  .meta({ id: 'OrganizationMember', description: 'A member of an organization.' })
export type MemberView = z.infer<typeof MemberView>

export const memberParams = z.strictObject({ id: idOf('organization'), user_id: idOf('operator') })

/** Body of PATCH /api/organizations/{id}/members/{user_id}. */
export const UpdateMember = z
  .strictObject({ role, groupIds })
  .partial()
  .refine((change) => Object.keys(change).length > 0, 'Name at least one field to change')
export type UpdateMember = z.infer<typeof UpdateMember>

/** Body of POST /api/organizations/{id}/invitations. */
export const CreateInvitation = z.strictObject({
  email: email.meta({ examples: ['grace@example.com'] }),
  role,
  groupIds: groupIds.default(null),
})
export type CreateInvitation = z.infer<typeof CreateInvitation>

export const CreatedInvitation = z
  .object({
    id: idOf('invitation'),
    email: z.string().meta({ examples: ['grace@example.com'] }),
    role,
    expires_at: timestamp,
  })
  .meta({ id: 'OrganizationInvitation', description: 'An invitation. Only the mail contains its token.' })

export const InvitationView = CreatedInvitation.extend({
  group_ids: groupIds,
  created_at: timestamp,
  delivered_at: timestamp
    .nullable()
    .meta({ description: 'When the mail server accepted the mail; null before.' }),
}).meta({ id: 'OpenInvitation', description: 'An invitation that has not been accepted.' })
export type InvitationView = z.infer<typeof InvitationView>

export const ReceivedInvitation = z
  .object({
    id: idOf('invitation'),
    organization_name: z.string().meta({ examples: ['Harbour Robotics'] }),
    role,
    expires_at: timestamp,
  })
  .meta({ id: 'ReceivedInvitation', description: 'An invitation to your verified address.' })
export type ReceivedInvitation = z.infer<typeof ReceivedInvitation>

export const invitationParams = z.strictObject({
  id: idOf('organization'),
  invitation_id: idOf('invitation'),
})
export const tokenParams = z.strictObject({
  token: z
    .string()
    .max(200)
    .meta({
      description: 'The token of the mail or, for an invitation to your verified address, its id.',
      examples: [`${exampleIds.invitation}.4f9d…`],
    }),
})

export const GroupBody = z.strictObject({ name: line(100).meta({ examples: ['Rotterdam'] }) })
export const GroupView = z
  .object({
    id: idOf('group'),
    name: z.string().meta({ examples: ['Rotterdam'] }),
    robots: z
      .number()
      .int()
      .meta({ description: 'Robots of the group.', examples: [12] }),
    created_at: timestamp,
  })
  .meta({
    id: 'OrganizationGroup',
    description: "A group of an organization's robots, such as those of a site.",
  })
export type GroupView = z.infer<typeof GroupView>
export const groupParams = z.strictObject({ id: idOf('organization'), group_id: idOf('group') })
