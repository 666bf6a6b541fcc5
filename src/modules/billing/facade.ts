import type { CoreServices } from '../../core/core-services.ts'
import { createEarningsRelease } from './earnings.service.ts'
import { createInvoices } from './invoice.service.ts'
import { createMonthlyClose } from './invoice-close.ts'
import { createPlans } from './plan.service.ts'
import { createSettle } from './settle.ts'

/** Creates the services of prices, the ledger, earnings and invoices. */
export const createBilling = (core: CoreServices, settings: { readonly earningsHoldMs: number }) => ({
  plans: createPlans(core),
  invoices: createInvoices(core),
  settle: createSettle(settings),
  earningsRelease: createEarningsRelease(core),
  monthlyClose: createMonthlyClose(core),
})
