import { Migration } from '@mikro-orm/migrations'

/** Who requested the remote stop in force decides who may clear it. */
export class Migration0022StopAuthority extends Migration {
  override name = '0022_stop_authority'

  override up(): void {
    this.addSql(`alter table "robots" add column "stop_clear" text not null default 'owner'`)
    this.addSql(
      `alter table "robots" add constraint "robots_stop_clear_check" check ("stop_clear" in ('owner', 'anyone'))`,
    )
    this.addSql(
      'alter table "sessions" add column "stop_by_role" text null, ' +
        'add column "stop_by_owner" boolean not null default false, ' +
        'add column "stop_clear_requested_at" timestamptz(3) null',
    )
    this.addSql(
      `update "sessions" set
         "stop_by_role" = case "stop_by_id" when "client_id" then 'client' when "operator_id" then 'operator' else 'admin' end,
         "stop_by_owner" = "stop_by_id" = "client_id" or "stop_by_id" <> "operator_id"
       where "stop_at" is not null and "stop_by_id" is not null`,
    )
    this.addSql(
      `alter table "sessions" add constraint "sessions_stop_by_role_check" check ("stop_by_role" in ('client', 'operator', 'admin'))`,
    )
    this.addSql(requesterTrigger)
    this.addSql(
      `alter table "sessions" add constraint "sessions_stop_authority" check ("stop_at" is not null or (not "stop_by_owner" and "stop_by_role" is null and "stop_clear_requested_at" is null))`,
    )
  }
}

/**
 * During a rolling restart, processes of the version before write stops without their requester, and take stops away
 * without it: the row is completed for them.
 */
const requesterTrigger = `
create function "complete_stop_requester"() returns trigger language plpgsql as $$
begin
  if new.stop_at is null then
    new.stop_by_role := null;
    new.stop_by_owner := false;
    new.stop_clear_requested_at := null;
  elsif new.stop_by_role is null and new.stop_by_id is not null then
    new.stop_by_role := case new.stop_by_id when new.client_id then 'client' when new.operator_id then 'operator' else 'admin' end;
    new.stop_by_owner := new.stop_by_owner or new.stop_by_id = new.client_id or new.stop_by_id <> new.operator_id;
  end if;
  return new;
end $$;
create trigger "sessions_stop_requester" before insert or update of "stop_at", "stop_by_id" on "sessions"
  for each row execute function "complete_stop_requester"();
`
