import { Migration } from '@mikro-orm/migrations'

/** Adds what exports do with gaps, and the episodes that they leave out. */
export class Migration0052ExportOptions extends Migration {
  override name = '0052_export_options'

  override up(): void {
    this.addSql(`
      alter table "dataset_exports"
        add column "gaps" text not null default 'include',
        add column "alignment" text not null default 'nearest',
        add column "left_out" jsonb not null default '{"count": 0, "episodes": []}'`)
    this.addSql(`
      alter table "dataset_exports"
        alter column "gaps" set default 'leave_out',
        alter column "alignment" set default 'causal',
        alter column "left_out" drop default,
        add constraint "dataset_exports_alignment_check" check ("alignment" in ('causal', 'nearest')),
        add constraint "dataset_exports_gaps_check" check ("gaps" in ('leave_out', 'cut', 'include'))`)
  }
}
