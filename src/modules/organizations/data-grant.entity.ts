import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'
import { Organization } from './organization.entity.ts'

/** Read access of another organization to data of one robot. When a row goes, a trigger ends what the members are reading. */
export const DataGrant = defineEntity({
  name: 'DataGrant',
  tableName: 'data_grants',
  properties: {
    id: p.uuid().primary(),
    organization: () => p.manyToOne(Organization).mapToPk().deleteRule('cascade'),
    robot: () => referenceTo('Robot').deleteRule('cascade'),
    toOrganization: () => p.manyToOne(Organization).mapToPk().deleteRule('cascade'),
    scopes: p.array(),
    createdBy: () => referenceTo('User').nullable().deleteRule('set null'),
    createdAt: p.datetime(3).defaultRaw('now()'),
    /** Null: until it is revoked. */
    expiresAt: p.datetime(3).nullable(),
  },
})
export type DataGrant = InferEntity<typeof DataGrant>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof DataGrant> {}
}
