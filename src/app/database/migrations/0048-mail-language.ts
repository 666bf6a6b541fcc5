import { Migration } from '@mikro-orm/migrations'

/** The language in which a user receives mails and pushed notifications. */
export class Migration0048MailLanguage extends Migration {
  override name = '0048_mail_language'

  override up(): void {
    this.addSql('alter table "notification_settings" add column "language" text null')
    this.addSql(
      `alter table "notification_settings" add constraint "notification_settings_language_check" check ("language" in ('en', 'de'))`,
    )
  }
}
