import { Migration } from '@mikro-orm/migrations'

/** Accounts at the payment provider. */
export class Migration0012Payments extends Migration {
  override name = '0012_payments'

  override up(): void {
    this.addSql(accounts)
  }
}

const accounts = `
create table "provider_accounts" (
  "user_id" uuid not null,
  "kind" text not null,
  "request_key" uuid not null,
  "request" jsonb not null,
  "provider_id" text null,
  "created_at" timestamptz(3) not null default now(),
  primary key ("user_id", "kind")
);
alter table "provider_accounts" add constraint "provider_accounts_provider_id" unique ("provider_id");
alter table "provider_accounts" add constraint "provider_accounts_kind_check" check ("kind" in ('customer', 'recipient'));
alter table "provider_accounts" add constraint "provider_accounts_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete restrict;
`
