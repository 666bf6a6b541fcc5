import { Migration } from '@mikro-orm/migrations'

/** The audit log is looked through by what was done, and when. */
export class Migration0017AuditFilters extends Migration {
  override name = '0017_audit_filters'

  override up(): void {
    this.addSql('create index "audit_log_by_action" on "audit_log" ("action", "id")')
    this.addSql('create index "audit_log_by_time" on "audit_log" ("at")')
  }
}
