import { Migration } from '@mikro-orm/migrations'

/** Lets users choose channels for groups of notifications, and quiet hours. */
export class Migration0042NotificationSettings extends Migration {
  override name = '0042_notification_settings'

  override up(): void {
    this.addSql(`
      create table "notification_settings" (
        "user_id" uuid not null,
        "muted" text[] not null,
        "quiet_hours" jsonb null,
        primary key ("user_id"),
        constraint "notification_settings_user_id_foreign"
          foreign key ("user_id") references "users" ("id") on update cascade on delete cascade,
        constraint "notification_settings_muted" check (cardinality("muted") <= 100)
      )`)
  }
}
