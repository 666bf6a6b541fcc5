import { idOf } from '@wheelhouse/protocol'
import { z } from 'zod'
import { timestamp } from '../../core/http/fields.ts'
import { dataScopes } from '../../core/permissions/authorization.ts'

const scopes = z
  .array(z.enum(dataScopes))
  .min(1)
  .max(dataScopes.length)
  .meta({
    description:
      'What may be read: recordings, datasets with their episodes, the log, or the health of the robot.',
    examples: [['recordings', 'log']],
  })
const expiresAt = timestamp.nullable().meta({
  description: 'When the access ends; null until it is revoked.',
  examples: ['2027-05-20T00:00:00.000Z'],
})

/** Body of POST /api/organizations/{id}/grants. */
export const CreateDataGrant = z
  .strictObject({
    robot_id: idOf('robot'),
    to_organization_id: idOf('organization'),
    scopes,
    expires_at: expiresAt.default(null),
  })
  .meta({ id: 'NewDataGrant', description: 'Read access to the data of a robot for another organization.' })
export type CreateDataGrant = z.infer<typeof CreateDataGrant>

export const DataGrantView = z
  .object({
    id: idOf('dataGrant'),
    robot_id: idOf('robot'),
    robot_name: z.string().meta({ examples: ['Warehouse arm'] }),
    organization_id: idOf('client').meta({ description: 'The organization that grants the access.' }),
    organization_name: z.string().meta({ examples: ['Ada'] }),
    to_organization_id: idOf('organization').meta({ description: 'The organization that may read.' }),
    to_organization_name: z.string().meta({ examples: ['Arm Repairs GmbH'] }),
    scopes,
    created_at: timestamp,
    expires_at: expiresAt,
  })
  .meta({
    id: 'DataGrant',
    description: 'Read access of another organization to data of one robot, which its owner can revoke.',
  })
export type DataGrantView = z.infer<typeof DataGrantView>

export const DataGrantList = z.object({
  given: z.array(DataGrantView).meta({ description: 'To other organizations, newest first.' }),
  received: z.array(DataGrantView).meta({ description: 'From other organizations, newest first.' }),
})

export const DataGrantParams = z.strictObject({ id: idOf('organization'), grant_id: idOf('dataGrant') })
