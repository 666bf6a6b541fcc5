import { Migration } from '@mikro-orm/migrations'

/** Requests that carried an Idempotency-Key. */
export class Migration0008Idempotency extends Migration {
  override name = '0008_idempotency'

  override up(): void {
    this.addSql(table)
  }
}

const table = `
create table "idempotency_keys" (
  "scope" text not null,
  "key" text not null,
  "fingerprint" text not null,
  "claim_id" uuid not null,
  "claimed_until" timestamptz(3) not null,
  "effect_at" timestamptz(3) null,
  "status" smallint null,
  "body" text null,
  "created_at" timestamptz(3) not null default now(),
  primary key ("scope", "key")
);
create index "idempotency_keys_by_age" on "idempotency_keys" ("created_at");
`
