import { Migration } from '@mikro-orm/migrations'

/**
 * Stores events only for users who read their stream or have a webhook. Every existing stream stays subscribed, as if its
 * user had just read it.
 */
export class Migration0035EventSubscriptions extends Migration {
  override name = '0035_event_subscriptions'

  override up(): void {
    this.addSql(`
      alter table "event_streams"
        add column "subscribed" boolean not null default false,
        add column "renewed_at" timestamptz(3) null`)
    this.addSql(`
      insert into "event_streams" ("user_id", "head")
      select distinct "user_id", 0 from "webhooks" where "enabled"
      on conflict ("user_id") do nothing`)
    this.addSql(`update "event_streams" set "subscribed" = true, "renewed_at" = now()`)
    this.addSql(`
      alter table "event_streams"
        add constraint "event_streams_subscribed" check (not "subscribed" or "renewed_at" is not null)`)
    this.addSql('create index "event_streams_subscribed" on "event_streams" ("user_id") where "subscribed"')
  }
}
