import type { CoreServices } from '../../core/core-services.ts'
import { cronQueue } from '../../core/jobs/cron-queue.ts'
import { createEarningsRelease } from './earnings.service.ts'
import { createInvoices } from './invoice.service.ts'
import { createMonthlyClose } from './invoice-close.ts'
import { createPlans } from './plan.service.ts'
import { createSettle } from './settle.ts'

const EARNINGS_RELEASE = {
  ...cronQueue('earnings-release', '* * * * *', 'Releases earnings whose hold period has ended'),
  runsAtStart: true,
}

/** Creates the services of prices, the ledger, earnings and invoices. */
export function createBilling(core: CoreServices, settings: { readonly earningsHoldMs: number }) {
  const earningsRelease = createEarningsRelease(core)
  core.jobs.register(EARNINGS_RELEASE, earningsRelease.runDue)
  return {
    plans: createPlans(core),
    invoices: createInvoices(core),
    settle: createSettle(settings),
    earningsRelease,
    monthlyClose: createMonthlyClose(core),
  }
}
