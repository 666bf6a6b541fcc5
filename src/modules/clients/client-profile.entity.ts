import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'

/** A client's company and contact data. The row is created at the first save. */
export const ClientProfile = defineEntity({
  name: 'ClientProfile',
  tableName: 'client_profiles',
  properties: {
    organization: () => referenceTo('Organization').primary().deleteRule('cascade'),
    companyName: p.text().nullable(),
    contactEmail: p.text().nullable(),
    phone: p.text().nullable(),
    country: p.text().nullable(),
    vatId: p.text().nullable(),
    /** When a payment method was saved at Stripe; null without one. */
    paymentMethodAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type ClientProfile = InferEntity<typeof ClientProfile>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof ClientProfile> {}
}
