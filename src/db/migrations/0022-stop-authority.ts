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
    this.addSql(
      `alter table "sessions" add constraint "sessions_stop_authority" check ("stop_at" is not null or (not "stop_by_owner" and "stop_by_role" is null and "stop_clear_requested_at" is null))`,
    )
  }
}
