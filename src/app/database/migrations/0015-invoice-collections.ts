import { Migration } from '@mikro-orm/migrations'

/** Invoices at the payment provider, and where in the ledger their money goes. */
export class Migration0015InvoiceCollections extends Migration {
  override name = '0015_invoice_collections'

  override up(): void {
    for (const statement of [collections, ledger]) this.addSql(statement)
  }
}

const collections = `
create table "invoice_collections" (
  "invoice_id" uuid not null,
  "request_key" uuid not null,
  "provider_id" text null,
  "attempts" int not null default 0,
  "try_at" timestamptz(3) null,
  "failure" text null,
  "created_at" timestamptz(3) not null default now(),
  primary key ("invoice_id")
);
alter table "invoice_collections" add constraint "invoice_collections_provider_id" unique ("provider_id");
create index "invoice_collections_due" on "invoice_collections" ("try_at") where "try_at" is not null;
alter table "invoice_collections" add constraint "invoice_collections_invoice_id_foreign" foreign key ("invoice_id") references "invoices" ("id") on update cascade on delete restrict;
create index "invoices_to_collect" on "invoices" ("issued_at") where "status" = 'OPEN';
create index "sessions_by_invoice" on "sessions" ("invoice_id", "started_at") where "invoice_id" is not null;
`

const ledger = `
alter table "ledger_entries" drop constraint "ledger_entries_owner";
alter table "ledger_entries" drop constraint "ledger_entries_account_check";
alter table "ledger_entries" add constraint "ledger_entries_owner" check (("user_id" is not null) = ("account" in ('client_receivable', 'client_balance', 'operator_payable', 'payout_reserved')));
alter table "ledger_entries" add constraint "ledger_entries_account_check" check ("account" in ('client_receivable', 'client_balance', 'operator_payable', 'platform_revenue', 'payout_reserved', 'provider_cash'));
create unique index "one_settlement_per_invoice" on "ledger_entries" ("invoice_id", "account") where "kind" in ('invoice_paid', 'invoice_voided');
`
