import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'
import { CertificationStatus } from './certification.schema.ts'

/** An operator's request for a certification for a robot type, and the decision. */
export const Certification = defineEntity({
  name: 'Certification',
  tableName: 'certifications',
  properties: {
    id: p.uuid().primary(),
    operator: () => referenceTo('User'),
    robotType: p.text(),
    status: p.enum(CertificationStatus.options).default('PENDING'),
    note: p.text().nullable(),
    /** Why it was rejected or revoked. */
    reason: p.text().nullable(),
    requestedAt: p.datetime(3).defaultRaw('now()'),
    decidedAt: p.datetime(3).nullable(),
    decidedBy: () => referenceTo('User').nullable(),
  },
})
export type Certification = InferEntity<typeof Certification>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof Certification> {}
}
