import { Migration } from '@mikro-orm/migrations'

/**
 * Records of money that do not change: names are copied to a session when it is over and to an invoice when it is made;
 * earnings that wait for the client's payment have an account of their own; owners neither earn from nor rate themselves.
 */
export class Migration0020MoneyRecords extends Migration {
  override name = '0020_money_records'

  override up(): void {
    const statements = [columns, copies, backfill, rules, sessionRecords, invoiceRecords, ownRobots, pending]
    for (const statement of statements) this.addSql(statement)
  }
}

const columns = `
alter table "sessions"
  add column "recorded_robot_name" text null,
  add column "recorded_robot_type" text null,
  add column "recorded_operator_name" text null,
  add column "recorded_client_name" text null,
  add column "earnings_held_until" timestamptz(3) null;
create index "sessions_earnings_due" on "sessions" ("earnings_held_until") where "earnings_held_until" is not null;
create index "sessions_earnings_held" on "sessions" ("operator_id", "earnings_held_until") where "earnings_held_until" is not null;
alter table "invoices"
  add column "billing_name" text null,
  add column "billing_country" text null,
  add column "billing_vat_id" text null;
`

/** The database copies by itself, in the statement that ends a session or makes an invoice. */
const copies = `
create function record_session_names() returns trigger language plpgsql as $$
begin
  select name, robot_type into new.recorded_robot_name, new.recorded_robot_type from robots where id = new.robot_id;
  select display_name into new.recorded_operator_name from users where id = new.operator_id;
  select display_name into new.recorded_client_name from users where id = new.client_id;
  return new;
end $$;
create trigger sessions_record_names_inserted before insert on sessions for each row
  when (new.status in ('COMPLETED', 'CANCELLED') and new.recorded_robot_name is null)
  execute function record_session_names();
create trigger sessions_record_names before update of status on sessions for each row
  when (new.status in ('COMPLETED', 'CANCELLED') and old.status not in ('COMPLETED', 'CANCELLED'))
  execute function record_session_names();

create function record_billing_name() returns trigger language plpgsql as $$
begin
  select coalesce(p.company_name, u.display_name), p.country, p.vat_id
    into new.billing_name, new.billing_country, new.billing_vat_id
    from users u left join client_profiles p on p.user_id = u.id where u.id = new.client_id;
  return new;
end $$;
create trigger invoices_record_billing_name before insert on invoices for each row
  when (new.billing_name is null) execute function record_billing_name();
`

/** Of what was over before, the names of today are the best that is known. */
const backfill = `
update "sessions" set
  "recorded_robot_name" = r."name", "recorded_robot_type" = r."robot_type",
  "recorded_operator_name" = o."display_name", "recorded_client_name" = c."display_name"
from "robots" r, "users" o, "users" c
where r."id" = "sessions"."robot_id" and o."id" = "sessions"."operator_id" and c."id" = "sessions"."client_id"
  and "sessions"."status" in ('COMPLETED', 'CANCELLED');
update "invoices" set
  "billing_name" = coalesce(p."company_name", u."display_name"),
  "billing_country" = p."country", "billing_vat_id" = p."vat_id"
from "users" u left join "client_profiles" p on p."user_id" = u."id"
where u."id" = "invoices"."client_id";
update "sessions" set "rating" = null, "rating_comment" = null
where "operator_id" = "client_id" and "rating" is not null;
`

const rules = `
alter table "sessions" add constraint "sessions_recorded" check ("status" not in ('COMPLETED', 'CANCELLED') or ("recorded_robot_name" is not null and "recorded_robot_type" is not null and "recorded_operator_name" is not null and "recorded_client_name" is not null));
alter table "sessions" add constraint "sessions_own_not_rated" check ("operator_id" <> "client_id" or "rating" is null);
alter table "sessions" add constraint "sessions_held" check ("earnings_held_until" is null or "operator_earnings_cents" > 0);
alter table "invoices" add constraint "invoices_billing_name" check ("status" = 'DRAFT' or "billing_name" is not null);
`

/** What a session was called stays when it is over; what it came to stays when it is charged; its invoice stays. */
const sessionRecords = `
create function refuse_record_change() returns trigger language plpgsql as $$
begin
  raise exception 'the record % does not change any more', old.id
    using errcode = 'check_violation', constraint = tg_argv[0];
end $$;

create trigger sessions_names_fixed
  before update of recorded_robot_name, recorded_robot_type, recorded_operator_name, recorded_client_name on sessions
  for each row when (
    old.status in ('COMPLETED', 'CANCELLED') and
    (old.recorded_robot_name, old.recorded_robot_type, old.recorded_operator_name, old.recorded_client_name)
    is distinct from
    (new.recorded_robot_name, new.recorded_robot_type, new.recorded_operator_name, new.recorded_client_name)
  )
  execute function refuse_record_change('sessions_names_fixed');

create trigger sessions_charge_fixed
  before update of status, robot_id, operator_id, client_id, started_at, ended_at, active_ms, outage_ms, paused_ms,
    plan_id, client_rate_cents_per_minute, operator_share_percent, billable_minutes, client_charge_cents,
    operator_earnings_cents on sessions
  for each row when (
    old.client_charge_cents is not null and
    (old.status, old.robot_id, old.operator_id, old.client_id, old.started_at, old.ended_at, old.active_ms,
      old.outage_ms, old.paused_ms, old.plan_id, old.client_rate_cents_per_minute, old.operator_share_percent,
      old.billable_minutes, old.client_charge_cents, old.operator_earnings_cents)
    is distinct from
    (new.status, new.robot_id, new.operator_id, new.client_id, new.started_at, new.ended_at, new.active_ms,
      new.outage_ms, new.paused_ms, new.plan_id, new.client_rate_cents_per_minute, new.operator_share_percent,
      new.billable_minutes, new.client_charge_cents, new.operator_earnings_cents)
  )
  execute function refuse_record_change('sessions_charge_fixed');

create function refuse_other_invoice() returns trigger language plpgsql as $$
begin
  if old.invoice_id is not null or (select status from invoices where id = new.invoice_id) <> 'DRAFT' then
    raise exception 'the sessions on an issued invoice do not change'
      using errcode = 'check_violation', constraint = 'sessions_invoice_fixed';
  end if;
  return new;
end $$;
create trigger sessions_invoice_fixed before update of invoice_id on sessions for each row
  when (old.invoice_id is distinct from new.invoice_id) execute function refuse_other_invoice();
`

/** An invoice that was issued changes only in how it is paid; one that is PAID or VOID not even in that. */
const invoiceRecords = `
create trigger invoices_issued_fixed before update on invoices
  for each row when (
    old.status <> 'DRAFT' and (
      new.status = 'DRAFT' or
      (old.client_id, old.month, old.currency, old.total_cents, old.session_count, old.minutes, old.issued_at,
        old.created_at, old.billing_name, old.billing_country, old.billing_vat_id)
      is distinct from
      (new.client_id, new.month, new.currency, new.total_cents, new.session_count, new.minutes, new.issued_at,
        new.created_at, new.billing_name, new.billing_country, new.billing_vat_id) or
      (old.status in ('PAID', 'VOID') and (old.status, old.paid_at) is distinct from (new.status, new.paid_at))
    )
  )
  execute function refuse_record_change('invoices_issued_fixed');
create trigger invoices_issued_kept before delete on invoices
  for each row when (old.status <> 'DRAFT') execute function refuse_record_change('invoices_issued_fixed');
`

/** Not a check: what was earned before this rule was posted, and may have been paid out; those rows stay as they are. */
const ownRobots = `
create trigger sessions_own_not_earned before update of operator_earnings_cents on sessions
  for each row when (
    new.operator_id = new.client_id and new.operator_earnings_cents > 0
    and old.operator_earnings_cents is distinct from new.operator_earnings_cents
  )
  execute function refuse_record_change('sessions_own_not_earned');
create trigger sessions_own_not_earned_inserted before insert on sessions
  for each row when (new.operator_id = new.client_id and new.operator_earnings_cents > 0)
  execute function refuse_record_change('sessions_own_not_earned');
`

/**
 * What was earned before stays available. The new account is guarded as the others are. An
 * invoice that becomes PAID, also by a process of the version before or by hand, makes its earnings due; the worker
 * releases them.
 */
const pending = `
alter table "ledger_entries" drop constraint "ledger_entries_owner";
alter table "ledger_entries" drop constraint "ledger_entries_account_check";
alter table "ledger_entries" add constraint "ledger_entries_owner" check (("user_id" is not null) = ("account" in ('client_receivable', 'client_balance', 'operator_pending', 'operator_payable', 'payout_reserved')));
alter table "ledger_entries" add constraint "ledger_entries_account_check" check ("account" in ('client_receivable', 'client_balance', 'operator_pending', 'operator_payable', 'platform_revenue', 'payout_reserved', 'provider_cash'));
drop trigger ledger_not_overdrawn on ledger_entries;
create trigger ledger_not_overdrawn after insert on ledger_entries for each row
  when (new.amount_cents > 0 and new.account in ('operator_pending', 'operator_payable', 'payout_reserved'))
  execute function refuse_overdraft();

create function make_earnings_due() returns trigger language plpgsql as $$
begin
  with locked as (
    select id from sessions where invoice_id = new.id and earnings_held_until is not null
    order by id for no key update
  )
  update sessions set earnings_held_until = least(earnings_held_until, new.paid_at)
  from locked where sessions.id = locked.id;
  return null;
end $$;
create trigger invoices_paid_earnings after update of status on invoices
  for each row when (new.status = 'PAID' and old.status <> 'PAID') execute function make_earnings_due();
`
