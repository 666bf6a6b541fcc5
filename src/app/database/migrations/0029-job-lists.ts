import { Migration } from '@mikro-orm/migrations'

/**
 * Lets admins list and count unfinished jobs in order, however many finished ones the table has. The index is on the
 * partition that holds all queues.
 */
export class Migration0029JobLists extends Migration {
  override name = '0029_job_lists'

  override up(): void {
    this.addSql(`
      create index "job_unfinished" on pgboss.job_common (name, state, created_on, id) where state < 'completed'`)
  }
}
