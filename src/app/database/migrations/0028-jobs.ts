import { Migration } from '@mikro-orm/migrations'
import { jobSchemaSql } from '../../../core/jobs/schema.ts'

/** Queues whose work was stored in their own tables before: name, order of the jobs. The start applies their settings. */
const queues = [
  ['contact-mails', 'standard'],
  ['notification-digests', 'standard'],
  ['notification-mails', 'standard'],
  ['webhook-deliveries', 'key_strict_fifo'],
  ['payouts', 'standard'],
  ['invoice-collections', 'standard'],
] as const

/** Unfinished work of before, as jobs: queue, data, key, start, source. */
const unfinishedWork = [
  [
    'contact-mails',
    `jsonb_build_object('id', id)`,
    'null',
    'next_attempt_at',
    'contact_messages where delivered_at is null',
  ],
  ['notification-digests', `jsonb_build_object('userId', user_id)`, 'null', 'due_at', 'notification_digests'],
  [
    'notification-mails',
    `jsonb_build_object('id', id)`,
    'null',
    'next_attempt_at',
    'notification_mails where delivered_at is null',
  ],
  [
    'webhook-deliveries',
    `jsonb_build_object('webhookId', id)`,
    'id::text',
    'greatest(due_at, paused_until)',
    'webhooks where due_at is not null',
  ],
  ['payouts', `jsonb_build_object('payoutId', id)`, 'null', 'try_at', `payouts where status = 'PENDING'`],
  [
    'invoice-collections',
    `jsonb_build_object('invoiceId', invoice_id)`,
    'null',
    'try_at',
    'invoice_collections where try_at is not null',
  ],
] as const

/** Columns that the job engine replaces: table, columns. Their indexes and checks go with them. */
const replacedColumns = [
  ['contact_messages', ['claim', 'claimed_until']],
  ['notification_mails', ['claim', 'claimed_until']],
  ['webhooks', ['claim', 'claimed_until']],
  ['payouts', ['try_at']],
  ['invoice_collections', ['try_at']],
] as const

/** Indexes that only the claims used. */
const unusedIndexes = ['contact_messages_due', 'notification_mails_due', 'notification_digests_due']

/** Installs the job engine, and moves the work of six hand-written queues into it. */
export class Migration0028Jobs extends Migration {
  override name = '0028_jobs'

  override up(): void {
    this.addSql(jobSchemaSql())
    this.addSql(`
      create table "job_progress" (
        "job_id" uuid primary key, "done" bigint not null, "total" bigint not null, "updated_at" timestamptz(3) not null,
        constraint "job_progress_range" check ("done" >= 0 and "total" >= 0))`)
    for (const [name, policy] of queues)
      this.addSql(
        `select pgboss.create_queue('${name}', '{"policy": "${policy}", "retryLimit": 2147483647}')`,
      )
    for (const [queue, data, key, startAfter, source] of unfinishedWork) {
      this.addSql(`
        insert into pgboss.job (name, data, singleton_key, start_after, keep_until, policy, retry_limit, retry_backoff,
          heartbeat_seconds)
        select queue.name, work.data, work.key, work.start_after, work.start_after + interval '10 years', queue.policy,
          queue.retry_limit, true, 30
        from (select ${data} as data, ${key} as key, ${startAfter} as start_after from ${source}) as work
          join pgboss.queue on queue.name = '${queue}'`)
    }
    for (const [table, columns] of replacedColumns)
      for (const column of columns) this.addSql(`alter table "${table}" drop column "${column}"`)
    for (const index of unusedIndexes) this.addSql(`drop index "${index}"`)
  }
}
