import { Migration } from '@mikro-orm/migrations'

/** Sessions that were driven, and how long their commands took. */
export class Migration0009Driving extends Migration {
  override name = '0009_driving'

  override up(): void {
    for (const statement of [driven, latency]) this.addSql(statement)
  }
}

const driven = `
alter table "sessions" add column "driven" boolean not null default false;
`

const latency = `
create table "session_latency" (
  "session_id" uuid not null,
  "buckets" bigint[] not null,
  "max_ms" double precision not null,
  "frames" bigint not null,
  "dropped" bigint not null,
  "updated_at" timestamptz(3) not null default now(),
  primary key ("session_id")
);
alter table "session_latency" add constraint "session_latency_buckets" check (cardinality("buckets") = 64);
alter table "session_latency" add constraint "session_latency_session_id_foreign" foreign key ("session_id") references "sessions" ("id") on update cascade on delete cascade;
`
