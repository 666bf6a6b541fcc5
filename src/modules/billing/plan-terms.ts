import { type Expression, sql } from 'kysely'

/** Returns the id of a client's current plan: the assigned plan, or the default plan. */
export const currentPlanId = (clientId: string | Expression<string>) => sql<string>`coalesce(
  (select plan_id from organizations where id = ${clientId}),
  (select id from pricing_plans where is_default))`

/**
 * Returns the columns that fix a session's price, as expressions for the statement that sets it to ACTIVE. Later changes
 * of plans do not affect the session.
 * @param clientId the column of the client's id
 */
export function planTerms(clientId: Expression<string>) {
  const planColumn = <T>(column: string) =>
    sql<T>`(select ${sql.ref(column)} from pricing_plans where id = ${currentPlanId(clientId)})`
  return {
    plan_id: planColumn<string>('id'),
    client_rate_cents_per_minute: planColumn<number>('client_rate_cents_per_minute'),
    operator_share_percent: planColumn<number>('operator_share_percent'),
  }
}
