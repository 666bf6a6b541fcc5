import { Migration } from '@mikro-orm/migrations'

/** Adds exports of sessions that a job writes. */
export class Migration0030SessionExports extends Migration {
  override name = '0030_session_exports'

  override up(): void {
    this.addSql(`
      create table "session_exports" (
        "id" uuid primary key,
        "user_id" uuid not null,
        "format" text not null,
        "request" jsonb not null,
        "status" text not null default 'PENDING',
        "total_rows" int not null,
        "rows" int not null default 0,
        "bytes" bigint not null default '0',
        "chunks" int not null default 0,
        "last_id" uuid null,
        "last_created_at" text null,
        "error" text null,
        "created_at" timestamptz(3) not null,
        "finished_at" timestamptz(3) null,
        "expires_at" timestamptz(3) not null,
        constraint "session_exports_format_check" check ("format" in ('csv', 'json')),
        constraint "session_exports_status_check" check ("status" in ('PENDING', 'RUNNING', 'READY', 'FAILED')),
        constraint "session_exports_finished" check (("status" in ('READY', 'FAILED')) = ("finished_at" is not null)),
        constraint "session_exports_error" check (("status" = 'FAILED') = ("error" is not null)),
        constraint "session_exports_sizes" check ("rows" >= 0 and "bytes" >= 0 and "chunks" >= 0),
        constraint "session_exports_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade)`)
    this.addSql(`create index "session_exports_by_user" on "session_exports" ("user_id", "created_at")`)
    this.addSql(`create index "session_exports_by_expiry" on "session_exports" ("expires_at")`)
    this.addSql(`
      create table "session_export_chunks" (
        "export_id" uuid not null,
        "number" int not null,
        "data" bytea not null,
        primary key ("export_id", "number"),
        constraint "session_export_chunks_export_id_foreign" foreign key ("export_id")
          references "session_exports" ("id") on delete cascade)`)
    // The chunks are compressed already.
    this.addSql(`alter table "session_export_chunks" alter column "data" set storage external`)
  }
}
