import { Migration } from '@mikro-orm/migrations'

/** The audit log: append-only, by the database's own word. */
export class Migration0002Audit extends Migration {
  override name = '0002_audit'

  override up(): void {
    for (const statement of [table, appendOnly]) this.addSql(statement)
  }
}

const table = `
create table "audit_log" (
  "id" bigserial primary key,
  "at" timestamptz(3) not null default now(),
  "actor_id" uuid null,
  "action" text not null,
  "subject_type" text not null,
  "subject_id" text not null,
  "data" jsonb not null
);
create index "audit_log_by_subject" on "audit_log" ("subject_type", "subject_id", "id");
create index "audit_log_by_actor" on "audit_log" ("actor_id", "id");
alter table "audit_log" add constraint "audit_log_actor_id_foreign" foreign key ("actor_id") references "users" ("id") on delete set null;
`

/** Shared by every table whose rows may only be added. Set null of a removed user is the one change let through. */
const appendOnly = `
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;

create trigger audit_log_append_only before update or delete on audit_log
  for each row when (pg_trigger_depth() = 0) execute function refuse_change();
`
