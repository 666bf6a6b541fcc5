import { Migration } from '@mikro-orm/migrations'

/** Payouts of earnings, and that nobody is paid what they have not earned. */
export class Migration0013Payouts extends Migration {
  override name = '0013_payouts'

  override up(): void {
    for (const statement of [payouts, overdrafts]) this.addSql(statement)
  }
}

const payouts = `
create table "payouts" (
  "id" uuid not null,
  "operator_id" uuid not null,
  "amount_cents" bigint not null,
  "currency" text not null,
  "destination" text not null,
  "status" text not null default 'PENDING',
  "attempts" int not null default 0,
  "try_at" timestamptz(3) null,
  "transfer_id" text null,
  "reversed_cents" bigint not null default '0',
  "failure" text null,
  "created_at" timestamptz(3) not null default now(),
  "settled_at" timestamptz(3) null,
  primary key ("id")
);
create index "payouts_by_operator" on "payouts" ("operator_id", "created_at");
create index "payouts_due" on "payouts" ("try_at") where "status" = 'PENDING';
alter table "payouts" add constraint "payouts_transfer_id" unique ("transfer_id");
alter table "payouts" add constraint "payouts_amount" check ("amount_cents" > 0);
alter table "payouts" add constraint "payouts_reversed" check ("reversed_cents" between 0 and "amount_cents");
alter table "payouts" add constraint "payouts_settled" check (("status" = 'PENDING') = ("settled_at" is null));
alter table "payouts" add constraint "payouts_due_while_pending" check (("status" = 'PENDING') = ("try_at" is not null));
alter table "payouts" add constraint "payouts_paid" check ("status" <> 'PAID' or "transfer_id" is not null);
alter table "payouts" add constraint "payouts_status_check" check ("status" in ('PENDING', 'PAID', 'FAILED'));
alter table "payouts" add constraint "payouts_operator_id_foreign" foreign key ("operator_id") references "users" ("id") on delete restrict;
alter table "ledger_entries" add column "payout_id" uuid null;
create index "ledger_entries_by_payout" on "ledger_entries" ("payout_id") where "payout_id" is not null;
alter table "ledger_entries" add constraint "ledger_entries_payout_id_foreign" foreign key ("payout_id") references "payouts" ("id") on delete restrict;
`

/**
 * What an operator has earned, and what is reserved for a payout, never falls below nothing. The user's row is locked
 * before their lines are added up, so that of two postings at the same time the second one sees the first.
 */
const overdrafts = `
create function refuse_overdraft() returns trigger language plpgsql as $$
begin
  perform from users where id = new.user_id for no key update;
  if (select sum(amount_cents) from ledger_entries where user_id = new.user_id and account = new.account) > 0 then
    raise exception 'the % of % is overdrawn', new.account, new.user_id
      using errcode = 'check_violation', constraint = 'ledger_not_overdrawn';
  end if;
  return null;
end $$;

create trigger ledger_not_overdrawn after insert on ledger_entries for each row
  when (new.amount_cents > 0 and new.account in ('operator_payable', 'payout_reserved'))
  execute function refuse_overdraft();
`
