import { idOf, OrganizationRole } from '@wheelhouse/protocol'
import { z } from 'zod'
import { line, timestamp } from '../../../core/http/fields.ts'
import { Scopes } from '../api-keys/api-key.schema.ts'

const MAX_GROUPS = 100
const MAX_DAYS = 365
/** Longest overlap of a rotation: a week. */
const MAX_OVERLAP_HOURS = 168

/** What a program may be: anything but the owner, who answers for the organization. */
export const ServiceRole = OrganizationRole.exclude(['owner'])
export type ServiceRole = z.infer<typeof ServiceRole>

const fields = {
  name: line(100).meta({ examples: ['Fleet scheduler'] }),
  role: ServiceRole.meta({ examples: ['operator'] }),
  group_ids: z
    .array(idOf('group'))
    .min(1)
    .max(MAX_GROUPS)
    .nullable()
    .meta({
      description: 'The groups whose robots the program may see; null for all robots.',
      examples: [null],
    }),
}

export const CreateServiceAccount = z.strictObject({
  name: fields.name,
  role: fields.role.default('operator'),
  group_ids: fields.group_ids.default(null),
})
export type CreateServiceAccount = z.infer<typeof CreateServiceAccount>

export const ChangeServiceAccount = z.strictObject(fields).partial()
export type ChangeServiceAccount = z.infer<typeof ChangeServiceAccount>

export const ServiceAccountView = z
  .object({
    id: idOf('serviceAccount'),
    ...fields,
    name: z.string().meta({ examples: ['Fleet scheduler'] }),
    created_at: timestamp.meta({ examples: ['2026-10-05T08:20:00.000Z'] }),
    keys: z.int().meta({ description: 'Keys that work.', examples: [1] }),
    last_used_at: timestamp.nullable().meta({ description: 'The last use of any of its keys.' }),
  })
  .meta({
    id: 'ServiceAccount',
    description: 'A program that acts for an organization, with API keys of its own.',
  })
export type ServiceAccountView = z.infer<typeof ServiceAccountView>

export const CreateServiceKey = z.strictObject({
  name: line(100)
    .optional()
    .meta({ description: 'By default the name of the service account.', examples: ['eu-west'] }),
  scopes: Scopes,
  expiresInDays: z
    .int()
    .min(1)
    .max(MAX_DAYS)
    .meta({ examples: [90] }),
})
export type CreateServiceKey = z.infer<typeof CreateServiceKey>

export const RotateServiceKey = z.strictObject({
  overlapHours: z
    .int()
    .min(0)
    .max(MAX_OVERLAP_HOURS)
    .meta({ description: 'How long both keys work; with 0 the old one ends at once.', examples: [24] }),
})
