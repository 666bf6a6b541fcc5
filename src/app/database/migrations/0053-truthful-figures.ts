import { Migration } from '@mikro-orm/migrations'

/**
 * Records how long the age of the picture limited the speed, and how long a robot was offline in pauses. Earlier sessions keep
 * what is known of them: all limits count as latency, and only the outage before the pause.
 */
export class Migration0053TruthfulFigures extends Migration {
  override name = '0053_truthful_figures'

  override up(): void {
    this.addSql(
      'alter table "session_latency" add column "picture_limited_ms" double precision not null default 0',
    )
    this.addSql(`alter table "sessions" add column "offline_ms" bigint not null default '0'`)
  }
}
