import { type Expression, sql } from 'kysely'

/** The id of a client's plan as it is now: their own, or the default one. */
export const currentPlanId = (clientId: string | Expression<string>) => sql<string>`coalesce(
  (select plan_id from users where id = ${clientId}),
  (select id from pricing_plans where is_default))`

/**
 * The columns that fix what a session costs, as expressions for the statement that makes it ACTIVE. Later changes
 * of plans do not touch it.
 * @param clientId the column that holds it
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
