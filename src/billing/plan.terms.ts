import { type Expression, sql } from 'kysely'

/**
 * The columns that fix what a session costs, as expressions for the very statement that makes it ACTIVE: the
 * client's plan as it is now, the default plan when they have none. Later changes of plans do not touch it.
 * @param clientId a value, or the column that holds it
 */
export function planTerms(clientId: string | Expression<string>) {
  const ofPlan = <T>(column: string) => sql<T>`(
    select ${sql.ref(column)} from pricing_plans
    where id = coalesce((select plan_id from users where id = ${clientId}),
      (select id from pricing_plans where is_default)))`
  return {
    plan_id: ofPlan<string>('id'),
    client_rate_cents_per_minute: ofPlan<number>('client_rate_cents_per_minute'),
    operator_share_percent: ofPlan<number>('operator_share_percent'),
  }
}
