import { Migration } from '@mikro-orm/migrations'

/** Browsers that receive notifications, and the key that identifies the platform to push services. */
export class Migration0045PushSubscriptions extends Migration {
  override name = '0045_push_subscriptions'

  override up(): void {
    this.addSql(`
      create table "push_subscriptions" (
        "id" uuid not null,
        "user_id" uuid not null,
        "endpoint" text not null,
        "p256dh" text not null,
        "auth" text not null,
        "label" text not null,
        "created_at" timestamptz(3) not null,
        "last_success_at" timestamptz(3) null,
        primary key ("id"),
        constraint "push_subscriptions_user_id_foreign"
          foreign key ("user_id") references "users" ("id") on delete cascade
      )`)
    this.addSql('create index "push_subscriptions_of_user" on "push_subscriptions" ("user_id", "created_at")')
    this.addSql(
      'create unique index "one_push_subscription_per_endpoint" on "push_subscriptions" ("endpoint")',
    )
    this.addSql(`
      create table "vapid_keys" (
        "id" int not null,
        "public_key" text not null,
        "sealed_private_key" text not null,
        primary key ("id"),
        constraint "one_vapid_key" check ("id" = 1)
      )`)
    this.addSql('alter table "notifications" add column "by_push" boolean not null default false')
  }
}
