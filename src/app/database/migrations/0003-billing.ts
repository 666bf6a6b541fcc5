import { Migration } from '@mikro-orm/migrations'

/** Money: pricing plans, what a session costs, the ledger, monthly invoices. */
export class Migration0003Billing extends Migration {
  override name = '0003_billing'

  override up(): void {
    for (const statement of [plans, invoices, sessions, openSessions, sessionRules, ledger, ledgerRules]) {
      this.addSql(statement)
    }
  }
}

const plans = `
create table "pricing_plans" (
  "id" text not null,
  "name" text not null,
  "description" text not null,
  "client_rate_cents_per_minute" int not null,
  "operator_share_percent" int not null,
  "is_default" boolean not null default false,
  "is_public" boolean not null default true,
  "position" int not null default 0,
  primary key ("id")
);
create unique index "one_default_plan" on "pricing_plans" ("is_default") where "is_default";
alter table "pricing_plans" add constraint "pricing_plans_rate" check ("client_rate_cents_per_minute" between 0 and 10000);
alter table "pricing_plans" add constraint "pricing_plans_share" check ("operator_share_percent" between 0 and 100);
insert into "pricing_plans" ("id", "name", "description", "client_rate_cents_per_minute", "operator_share_percent", "is_default", "position") values
  ('standard', 'Standard', 'For every robot, from the first minute: pay for active minutes only.', 50, 70, true, 1),
  ('fleet', 'Fleet', 'For owners of many robots, at a lower rate. Ask us to be put on it.', 40, 75, false, 2);
alter table "users" add column "plan_id" text null;
alter table "users" add constraint "users_plan_id_foreign" foreign key ("plan_id") references "pricing_plans" ("id") on delete restrict;
`

const invoices = `
create table "invoices" (
  "id" uuid not null,
  "client_id" uuid not null,
  "month" text not null,
  "status" text not null,
  "currency" text not null,
  "total_cents" bigint not null,
  "session_count" int not null,
  "minutes" int not null,
  "issued_at" timestamptz(3) null,
  "paid_at" timestamptz(3) null,
  "hosted_url" text null,
  "created_at" timestamptz(3) not null default now(),
  primary key ("id")
);
alter table "invoices" add constraint "one_invoice_per_month" unique ("client_id", "month");
alter table "invoices" add constraint "invoices_month" check ("month" ~ '^[0-9]{4}-(0[1-9]|1[0-2])$');
alter table "invoices" add constraint "invoices_total" check ("total_cents" >= 0);
alter table "invoices" add constraint "invoices_issued" check ("status" = 'DRAFT' or "issued_at" is not null);
alter table "invoices" add constraint "invoices_paid" check ("status" <> 'PAID' or "paid_at" is not null);
alter table "invoices" add constraint "invoices_status_check" check ("status" in ('DRAFT', 'OPEN', 'PAID', 'FAILED', 'VOID'));
alter table "invoices" add constraint "invoices_client_id_foreign" foreign key ("client_id") references "users" ("id");
`

const sessions = `
alter table "sessions"
  add column "active_since" timestamptz(3) null,
  add column "active_until" timestamptz(3) null,
  add column "active_ms" bigint not null default '0',
  add column "outage_ms" bigint not null default '0',
  add column "plan_id" text null,
  add column "client_rate_cents_per_minute" int null,
  add column "operator_share_percent" int null,
  add column "billable_minutes" int null,
  add column "invoice_id" uuid null;
create index "sessions_completed_by_client" on "sessions" ("client_id", "ended_at") include ("billable_minutes", "client_charge_cents", "episodes_collected", "data_collected_bytes", "rating") where "status" = 'COMPLETED';
create index "sessions_completed_by_operator" on "sessions" ("operator_id", "ended_at") include ("billable_minutes", "operator_earnings_cents", "rating") where "status" = 'COMPLETED';
create index "sessions_uninvoiced" on "sessions" ("ended_at") where "status" = 'COMPLETED' and "invoice_id" is null and "client_charge_cents" is not null;
create index "sessions_uninvoiced_by_client" on "sessions" ("client_id", "ended_at") where "status" = 'COMPLETED' and "invoice_id" is null and "client_charge_cents" is not null;
`

/** Sessions that are open while this runs are charged by the default plan; those that are over stay uncharged. */
const openSessions = `
update "sessions" set
  "plan_id" = p."id",
  "client_rate_cents_per_minute" = p."client_rate_cents_per_minute",
  "operator_share_percent" = p."operator_share_percent",
  "active_since" = case when "status" = 'ACTIVE' then "started_at" + "paused_ms" * interval '1 millisecond' end,
  "active_ms" = case when "status" = 'PAUSED'
    then greatest(0, (extract(epoch from "paused_at" - "started_at") * 1000)::bigint - "paused_ms") else 0 end
from "pricing_plans" p
where p."is_default" and "sessions"."status" in ('ACTIVE', 'PAUSED');
`

const sessionRules = `
alter table "sessions" add constraint "sessions_active_time" check (("status" = 'ACTIVE') = ("active_since" is not null and "active_until" is null));
alter table "sessions" add constraint "sessions_priced" check ("status" not in ('ACTIVE', 'PAUSED') or ("plan_id" is not null and "client_rate_cents_per_minute" is not null and "operator_share_percent" is not null));
alter table "sessions" add constraint "sessions_outage" check ("outage_ms" between 0 and "active_ms");
alter table "sessions" add constraint "sessions_charge" check ("operator_earnings_cents" between 0 and "client_charge_cents");
alter table "sessions" add constraint "sessions_invoice_id_foreign" foreign key ("invoice_id") references "invoices" ("id") on delete restrict;
`

const ledger = `
create table "ledger_entries" (
  "id" bigserial primary key,
  "posting_id" uuid not null,
  "account" text not null,
  "user_id" uuid null,
  "amount_cents" bigint not null,
  "session_id" uuid null,
  "invoice_id" uuid null,
  "kind" text not null,
  "at" timestamptz(3) not null default now()
);
create unique index "one_charge_per_session" on "ledger_entries" ("session_id", "account") where "kind" = 'session_charge';
create index "ledger_entries_by_posting" on "ledger_entries" ("posting_id");
create index "ledger_entries_by_account" on "ledger_entries" ("user_id", "account") include ("amount_cents");
create index "ledger_entries_by_invoice" on "ledger_entries" ("invoice_id") where "invoice_id" is not null;
alter table "ledger_entries" add constraint "ledger_entries_amount" check ("amount_cents" <> 0);
alter table "ledger_entries" add constraint "ledger_entries_owner" check (("user_id" is not null) = ("account" in ('client_receivable', 'operator_payable', 'payout_reserved')));
alter table "ledger_entries" add constraint "ledger_entries_account_check" check ("account" in ('client_receivable', 'operator_payable', 'platform_revenue', 'payout_reserved', 'provider_cash'));
alter table "ledger_entries" add constraint "ledger_entries_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete restrict;
alter table "ledger_entries" add constraint "ledger_entries_session_id_foreign" foreign key ("session_id") references "sessions" ("id") on delete restrict;
alter table "ledger_entries" add constraint "ledger_entries_invoice_id_foreign" foreign key ("invoice_id") references "invoices" ("id") on delete restrict;
`

/** What is posted stays posted, and every posting adds up to zero when its transaction commits. */
const ledgerRules = `
create trigger ledger_entries_append_only before update or delete on ledger_entries
  for each row execute function refuse_change();
create trigger ledger_entries_no_truncate before truncate on ledger_entries
  for each statement execute function refuse_change();

create function check_posting_balanced() returns trigger language plpgsql as $$
begin
  if (select sum(amount_cents) from ledger_entries where posting_id = new.posting_id) <> 0 then
    raise exception 'posting % does not add up to zero', new.posting_id
      using errcode = 'check_violation', constraint = 'ledger_posting_balanced';
  end if;
  return null;
end $$;

create constraint trigger ledger_posting_balanced after insert on ledger_entries
  deferrable initially deferred for each row execute function check_posting_balanced();
`
