import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'
import { CertificationStatus } from './certification.schema.ts'
import type { Slot } from './schedule.schema.ts'

/** An operator's public profile. The row is created at the first save. */
export const OperatorProfile = defineEntity({
  name: 'OperatorProfile',
  tableName: 'operator_profiles',
  properties: {
    user: () => referenceTo('User').primary().deleteRule('cascade'),
    headline: p.text().nullable(),
    bio: p.text().nullable(),
    country: p.text().nullable(),
    timezone: p.text().nullable(),
    languages: p.array().defaultRaw(`'{}'`),
    /** When Stripe enabled payouts to the operator's account; null while payouts are disabled. */
    payoutReadyAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type OperatorProfile = InferEntity<typeof OperatorProfile>

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

/** An operator's weekly schedule. It is one row, so a replacement is atomic. */
export const OperatorSchedule = defineEntity({
  name: 'OperatorSchedule',
  tableName: 'operator_schedules',
  properties: {
    user: () => referenceTo('User').primary().deleteRule('cascade'),
    timezone: p.text(),
    /** Sorted, without overlaps. */
    slots: p.json<Slot[]>(),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type OperatorSchedule = InferEntity<typeof OperatorSchedule>

declare module '../../core/database/tables.ts' {
  interface Tables
    extends TablesOf<typeof OperatorProfile | typeof Certification | typeof OperatorSchedule> {}
}
