import { Migration } from '@mikro-orm/migrations'

/** Lets admins suspend users. A suspension changes the permissions of the user, so that every node finds it. */
export class Migration0040AccountSuspension extends Migration {
  override name = '0040_account_suspension'

  override up(): void {
    this.addSql(`
      alter table "users"
        add column "suspended_at" timestamptz(3) null,
        add column "suspension_reason" text null,
        add constraint "users_suspension" check (("suspended_at" is null) = ("suspension_reason" is null))`)
    this.addSql('drop trigger "users_permissions" on "users"')
    this.addSql(`
      create trigger "users_permissions"
        before update of is_client, is_operator, email, email_verified, suspended_at on "users"
        for each row when (
          (old.is_client, old.is_operator, old.email, old.email_verified, old.suspended_at)
          is distinct from (new.is_client, new.is_operator, new.email, new.email_verified, new.suspended_at)
        )
        execute function users_note_permissions()`)
  }
}
