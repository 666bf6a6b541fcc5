import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'

/** Who pays for a client's sessions and how to reach them; made when it is first saved. */
export const ClientProfile = defineEntity({
  name: 'ClientProfile',
  tableName: 'client_profiles',
  properties: {
    user: () => referenceTo('User').primary().deleteRule('cascade'),
    companyName: p.text().nullable(),
    contactEmail: p.text().nullable(),
    phone: p.text().nullable(),
    country: p.text().nullable(),
    vatId: p.text().nullable(),
    /** Since when a payment method is saved at the payment provider; null while there is none. */
    paymentMethodAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type ClientProfile = InferEntity<typeof ClientProfile>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof ClientProfile> {}
}
