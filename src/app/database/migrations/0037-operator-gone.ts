import { Migration } from '@mikro-orm/migrations'

/** Records that the operator of a paused session is gone, and when the session ends because of that. */
export class Migration0037OperatorGone extends Migration {
  override name = '0037_operator_gone'

  override up(): void {
    this.addSql(`
      alter table "sessions"
        add column "operator_gone_at" timestamptz(3) null,
        add column "ends_at" timestamptz(3) null`)
    this.addSql(`
      update "sessions" set "operator_gone_at" = "paused_at"
      where "status" = 'PAUSED' and "pause_reason" in ('operator_lost', 'operator_absent')`)
    this.addSql(`
      alter table "sessions" add constraint "sessions_operator_gone"
        check (("operator_gone_at" is null or "status" = 'PAUSED') and ("ends_at" is null or "operator_gone_at" is not null))`)
  }
}
