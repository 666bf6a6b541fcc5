import { audit } from '../../core/audit/audit.ts'
import type { Db } from '../../core/database/tables.ts'
import { badRequest, notFound } from '../../core/errors/errors.ts'
import type { Transact } from '../../core/events/transactor.ts'

/** Creates the service of pricing plans and their assignment to clients. */
export function createPlans(deps: { db: Db; transact: Transact; now: () => Date }) {
  const { db, transact, now } = deps

  return {
    /** Lists the public plans in the order of the price list. */
    listPublic: () =>
      db
        .selectFrom('pricing_plans')
        .select(['id', 'name', 'description', 'client_rate_cents_per_minute', 'operator_share_percent'])
        .where('is_public', '=', true)
        .orderBy('position')
        .orderBy('id')
        .execute(),

    /**
     * Assigns a plan to a client, effective from the next session. Started sessions keep their price.
     * @throws 404 no such client, 400 no such plan.
     */
    assign: (adminId: string, clientId: string, plan: string | null, credential?: string): Promise<void> =>
      transact(async (tx) => {
        const client = await tx.db
          .selectFrom('organizations')
          .select('plan_id')
          .where('id', '=', clientId)
          .where((eb) =>
            eb.or([
              eb('kind', '=', 'team'),
              eb.exists(
                eb
                  .selectFrom('users')
                  .select('users.id')
                  .whereRef('users.id', '=', 'organizations.id')
                  .where('users.is_client', '=', true),
              ),
            ]),
          )
          .forNoKeyUpdate()
          .executeTakeFirst()
        if (!client) throw notFound('Client')
        if (plan !== null) {
          const known = await tx.db
            .selectFrom('pricing_plans')
            .select('id')
            .where('id', '=', plan)
            .executeTakeFirst()
          if (!known) throw badRequest('plan: must be the name of a pricing plan')
        }
        await tx.db.updateTable('organizations').set({ plan_id: plan }).where('id', '=', clientId).execute()
        await audit(tx, {
          at: now(),
          organizationId: clientId,
          actorId: adminId,
          credential,
          action: 'client.plan_assigned',
          subject: ['client', clientId],
          data: { plan, plan_before: client.plan_id },
        })
      }),
  }
}
export type Plans = ReturnType<typeof createPlans>
