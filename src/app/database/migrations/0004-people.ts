import { Migration } from '@mikro-orm/migrations'

/** People: profiles of clients and operators, schedules, presence at the hub, avatars. */
export class Migration0004People extends Migration {
  override name = '0004_people'

  override up(): void {
    for (const statement of [tables, presenceStorage]) this.addSql(statement)
  }
}

const tables = `
alter table "users" add column "display_name_chosen" boolean not null default false;
create table "client_profiles" (
  "user_id" uuid not null,
  "company_name" text null,
  "contact_email" text null,
  "phone" text null,
  "country" text null,
  "vat_id" text null,
  "payment_method_at" timestamptz(3) null,
  "created_at" timestamptz(3) not null default now(),
  primary key ("user_id")
);
create table "operator_profiles" (
  "user_id" uuid not null,
  "headline" text null,
  "bio" text null,
  "country" text null,
  "timezone" text null,
  "languages" text[] not null default '{}',
  "payout_ready_at" timestamptz(3) null,
  "created_at" timestamptz(3) not null default now(),
  primary key ("user_id")
);
create table "operator_schedules" (
  "user_id" uuid not null,
  "timezone" text not null,
  "slots" jsonb not null,
  "updated_at" timestamptz(3) not null default now(),
  primary key ("user_id")
);
create table "user_presence" (
  "user_id" uuid not null,
  "seen_at" timestamptz(3) not null default now(),
  primary key ("user_id")
);
create table "avatars" (
  "user_id" uuid not null,
  "name" text not null,
  "image" bytea not null,
  "created_at" timestamptz(3) not null default now(),
  primary key ("user_id")
);
alter table "avatars" add constraint "avatars_name" unique ("name");
alter table "avatars" add constraint "avatars_size" check (octet_length("image") <= 262144);
alter table "client_profiles" add constraint "client_profiles_user_id_foreign" foreign key ("user_id") references "users" ("id") on update cascade on delete cascade;
alter table "operator_profiles" add constraint "operator_profiles_user_id_foreign" foreign key ("user_id") references "users" ("id") on update cascade on delete cascade;
alter table "operator_schedules" add constraint "operator_schedules_user_id_foreign" foreign key ("user_id") references "users" ("id") on update cascade on delete cascade;
alter table "user_presence" add constraint "user_presence_user_id_foreign" foreign key ("user_id") references "users" ("id") on update cascade on delete cascade;
alter table "avatars" add constraint "avatars_user_id_foreign" foreign key ("user_id") references "users" ("id") on update cascade on delete cascade;
`

/** Rewritten every few seconds for everybody who is connected: part-empty pages keep the updates in place (HOT). */
const presenceStorage = `
alter table "user_presence" set (fillfactor = 50);
`
