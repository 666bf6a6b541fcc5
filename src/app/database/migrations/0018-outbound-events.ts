import { Migration } from '@mikro-orm/migrations'

/** What programs of others are told: a numbered stream of events for each user, and their webhooks. */
export class Migration0018OutboundEvents extends Migration {
  override name = '0018_outbound_events'

  override up(): void {
    for (const statement of [streams, webhooks]) this.addSql(statement)
  }
}

const streams = `
create table "outbound_facts" (
  "id" bigserial primary key,
  "name" text not null,
  "payload" jsonb not null,
  "created_at" timestamptz(3) not null
);
create table "event_streams" (
  "user_id" uuid not null,
  "head" bigint not null,
  "pruned_to" bigint not null default '0',
  primary key ("user_id")
);
alter table "event_streams" add constraint "event_streams_range" check ("pruned_to" between 0 and "head");
create table "user_events" (
  "user_id" uuid not null,
  "seq" bigint not null,
  "id" uuid not null,
  "type" text not null,
  "data" jsonb not null,
  "created_at" timestamptz(3) not null,
  "stored_at" timestamptz(3) not null,
  primary key ("user_id", "seq")
);
create index "user_events_by_age" on "user_events" ("stored_at");
alter table "event_streams" add constraint "event_streams_user_id_foreign" foreign key ("user_id") references "users" ("id") on update cascade on delete cascade;
alter table "user_events" add constraint "user_events_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade;
`

const webhooks = `
create table "webhooks" (
  "id" uuid not null,
  "user_id" uuid not null,
  "url" text not null,
  "description" text null,
  "types" text[] not null,
  "secret" text not null,
  "old_secret" text null,
  "old_secret_until" timestamptz(3) null,
  "enabled" boolean not null default true,
  "disabled_reason" text null,
  "disabled_at" timestamptz(3) null,
  "created_at" timestamptz(3) not null default now(),
  "last_success_at" timestamptz(3) null,
  "failing_since" timestamptz(3) null,
  "failures" int not null default 0,
  "due_at" timestamptz(3) null,
  "paused_until" timestamptz(3) null,
  "claim" uuid null,
  "claimed_until" timestamptz(3) null,
  primary key ("id")
);
create index "webhooks_by_user" on "webhooks" ("user_id", "created_at");
create index "webhooks_due" on "webhooks" ("due_at") where "due_at" is not null;
alter table "webhooks" add constraint "webhooks_disabled" check ("enabled" = ("disabled_reason" is null));
alter table "webhooks" add constraint "webhooks_disabled_at" check ("enabled" = ("disabled_at" is null));
alter table "webhooks" add constraint "webhooks_disabled_rests" check ("enabled" or "due_at" is null);
alter table "webhooks" add constraint "webhooks_claim" check (("claim" is null) = ("claimed_until" is null));
alter table "webhooks" add constraint "webhooks_old_secret" check (("old_secret" is null) = ("old_secret_until" is null));
alter table "webhooks" add constraint "webhooks_disabled_reason_check" check ("disabled_reason" in ('user', 'failing', 'gone'));
create table "webhook_deliveries" (
  "number" bigserial primary key,
  "id" uuid not null,
  "webhook_id" uuid not null,
  "event_id" uuid not null,
  "seq" bigint null,
  "type" text not null,
  "data" jsonb not null,
  "occurred_at" timestamptz(3) not null,
  "created_at" timestamptz(3) not null,
  "status" text not null default 'PENDING',
  "attempts" int not null default 0,
  "next_attempt_at" timestamptz(3) null,
  "settled_at" timestamptz(3) null,
  "attempted_at" timestamptz(3) null,
  "duration_ms" int null,
  "response_status" int null,
  "response_excerpt" text null,
  "error" text null
);
create index "webhook_deliveries_by_webhook" on "webhook_deliveries" ("webhook_id", "number");
create index "webhook_deliveries_due" on "webhook_deliveries" ("webhook_id", "next_attempt_at", "number") where "status" = 'PENDING';
create index "webhook_deliveries_settled" on "webhook_deliveries" ("settled_at") where "settled_at" is not null;
create index "webhook_deliveries_by_event" on "webhook_deliveries" ("webhook_id", "event_id");
alter table "webhook_deliveries" add constraint "webhook_deliveries_id" unique ("id");
alter table "webhook_deliveries" add constraint "webhook_deliveries_due" check (("status" = 'PENDING') = ("next_attempt_at" is not null));
alter table "webhook_deliveries" add constraint "webhook_deliveries_open" check (("status" = 'PENDING') = ("settled_at" is null));
alter table "webhook_deliveries" add constraint "webhook_deliveries_status_check" check ("status" in ('PENDING', 'DELIVERED', 'FAILED'));
alter table "webhooks" add constraint "webhooks_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade;
alter table "webhook_deliveries" add constraint "webhook_deliveries_webhook_id_foreign" foreign key ("webhook_id") references "webhooks" ("id") on delete cascade;
`
