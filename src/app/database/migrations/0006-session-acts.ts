import { Migration } from '@mikro-orm/migrations'

/** Requests for more time, and the latched stop of a session. */
export class Migration0006SessionActs extends Migration {
  override name = '0006_session_acts'

  override up(): void {
    for (const statement of [extensions, stop]) this.addSql(statement)
  }
}

const extensions = `
create table "session_extensions" (
  "id" uuid not null,
  "session_id" uuid not null,
  "additional_minutes" int not null,
  "status" text not null default 'REQUESTED',
  "requested_at" timestamptz(3) not null default now(),
  "decided_at" timestamptz(3) null,
  primary key ("id")
);
create unique index "one_waiting_extension_per_session" on "session_extensions" ("session_id") where "status" = 'REQUESTED';
create index "session_extensions_by_session" on "session_extensions" ("session_id", "requested_at");
alter table "session_extensions" add constraint "session_extensions_minutes" check ("additional_minutes" between 1 and 480);
alter table "session_extensions" add constraint "session_extensions_decided" check (("status" = 'REQUESTED') = ("decided_at" is null));
alter table "session_extensions" add constraint "session_extensions_status_check" check ("status" in ('REQUESTED', 'APPROVED', 'DECLINED', 'EXPIRED'));
alter table "session_extensions" add constraint "session_extensions_session_id_foreign" foreign key ("session_id") references "sessions" ("id");
`

/** A latched stop holds its session PAUSED: resuming or ending must take it away first, or fail. */
const stop = `
alter table "sessions" add column "stop_reason" text null, add column "stop_at" timestamptz(3) null, add column "stop_by_id" uuid null;
alter table "sessions" add constraint "sessions_stop_pauses" check ("stop_at" is null or "status" = 'PAUSED');
alter table "sessions" add constraint "sessions_stop_reason" check (("stop_at" is null) = ("stop_reason" is null));
alter table "sessions" add constraint "sessions_stop_by_id_foreign" foreign key ("stop_by_id") references "users" ("id") on delete set null;
`
