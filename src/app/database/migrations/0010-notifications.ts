import { Migration } from '@mikro-orm/migrations'

/** How many notifications are unread, and what is to be told of them by mail. */
export class Migration0010Notifications extends Migration {
  override name = '0010_notifications'

  override up(): void {
    for (const statement of [unread, mail]) this.addSql(statement)
  }
}

/** What was written before is not mailed: `by_mail` is false. */
const unread = `
alter table "users" add column "notification_unread" int not null default 0;
update "users" set "notification_unread" = counted.n
  from (select "user_id", count(*) as n from "notifications" where "read_at" is null group by "user_id") as counted
  where "users"."id" = counted."user_id";
alter table "users" add constraint "users_notification_unread" check ("notification_unread" >= 0);
alter table "notifications" add column "by_mail" boolean not null default false;
create index "notifications_unread" on "notifications" ("user_id", "seq") where "read_at" is null;
`

const mail = `
create table "notification_digests" (
  "user_id" uuid not null,
  "from_seq" int not null,
  "due_at" timestamptz(3) not null,
  primary key ("user_id")
);
create index "notification_digests_due" on "notification_digests" ("due_at");
create table "notification_mails" (
  "id" uuid not null,
  "user_id" uuid not null,
  "seqs" int[] not null,
  "more" int not null,
  "urgent" boolean not null,
  "created_at" timestamptz(3) not null default now(),
  "delivered_at" timestamptz(3) null,
  "attempts" int not null default 0,
  "next_attempt_at" timestamptz(3) not null default now(),
  "claim" uuid null,
  "claimed_until" timestamptz(3) null,
  "last_error" text null,
  primary key ("id")
);
create index "notification_mails_due" on "notification_mails" ("urgent" desc, "next_attempt_at") where "delivered_at" is null;
create index "notification_mails_claimed" on "notification_mails" ("claimed_until") where "claimed_until" is not null;
create index "notification_mails_of_user" on "notification_mails" ("user_id", "created_at");
create index "notification_mails_delivered" on "notification_mails" ("delivered_at") where "delivered_at" is not null;
alter table "notification_mails" add constraint "notification_mails_claim" check (("claim" is null) = ("claimed_until" is null));
alter table "notification_mails" add constraint "notification_mails_delivered" check ("delivered_at" is null or "claim" is null);
alter table "notification_mails" add constraint "notification_mails_seqs" check (cardinality("seqs") > 0);
alter table "notification_digests" add constraint "notification_digests_user_id_foreign" foreign key ("user_id") references "users" ("id") on update cascade on delete cascade;
alter table "notification_mails" add constraint "notification_mails_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade;
`
