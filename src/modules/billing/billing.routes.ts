import { type Endpoint, endpoint, idParams } from '../../core/http/endpoint.ts'
import { credentialOf } from '../../core/permissions/authorization.ts'
import { InvoiceDetail, InvoiceLinesQuery, InvoiceList } from './invoice.schema.ts'
import type { Invoices } from './invoice.service.ts'
import { invoiceView, lineView } from './invoice.view.ts'
import { CURRENCY } from './money.ts'
import { AssignedPlan, AssignPlan, PriceList } from './plan.schema.ts'
import type { Plans } from './plan.service.ts'

/** Returns the routes of pricing plans and invoices. */
export function billingEndpoints({ plans, invoices }: { plans: Plans; invoices: Invoices }): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api/public/pricing',
      summary: 'Returns the current public pricing plans',
      access: 'public',
      response: [200, PriceList],
      run: async () => ({ currency: CURRENCY, plans: await plans.listPublic() }),
    }),
    endpoint({
      method: 'get',
      path: '/api/client/invoices',
      list: true,
      summary: 'Lists your monthly invoices, newest first',
      access: { role: 'client', action: 'billing.read' },
      response: [200, InvoiceList],
      run: async ({ caller }) => ({
        invoices: (await invoices.list(caller.organization.id)).map(invoiceView),
      }),
    }),
    endpoint({
      method: 'get',
      path: '/api/client/invoices/{id}',
      summary: 'Returns one of your invoices with its sessions as lines, oldest first',
      access: { role: 'client', action: 'billing.read' },
      params: idParams('invoice'),
      query: InvoiceLinesQuery,
      response: [200, InvoiceDetail],
      errors: { 404: { not_found: 'when the invoice does not exist or is not yours' } },
      run: async ({ caller, params, query }) => {
        const { invoice, lines } = await invoices.read(caller.organization.id, params.id, query)
        return { ...invoiceView(invoice), lines: lines.map(lineView) }
      },
    }),
    endpoint({
      method: 'post',
      path: '/api/admin/clients/{id}/plan',
      summary: 'Assigns a pricing plan to a client, effective from the next session',
      access: { role: 'admin' },
      params: idParams('client'),
      body: AssignPlan,
      response: [200, AssignedPlan],
      errors: { 404: { not_found: 'when the client does not exist' } },
      run: async ({ caller, params, body }) => {
        await plans.assign(caller.userId, params.id, body.plan, credentialOf(caller))
        return { client_id: params.id, plan: body.plan }
      },
    }),
  ]
}
