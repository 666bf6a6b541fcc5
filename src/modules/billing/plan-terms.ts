import { type Expression, sql } from 'kysely'

/** The id of a client's plan as it is now: their own, or the default one. */
export const planOf = (clientId: string | Expression<string>) => sql<string>`coalesce(
  (select plan_id from users where id = ${clientId}),
  (select id from pricing_plans where is_default))`

/**
 * The columns that fix what a session costs, as expressions for the statement that makes it ACTIVE. Later changes
 * of plans do not touch it.
 * @param clientId the column that holds it
 */
export function planTerms(clientId: Expression<string>) {
  const ofPlan = <T>(column: string) =>
    sql<T>`(select ${sql.ref(column)} from pricing_plans where id = ${planOf(clientId)})`
  return {
    plan_id: ofPlan<string>('id'),
    client_rate_cents_per_minute: ofPlan<number>('client_rate_cents_per_minute'),
    operator_share_percent: ofPlan<number>('operator_share_percent'),
  }
}
