import { Migration } from '@mikro-orm/migrations'

/** Lets owners limit the speed of a robot by the latency of its commands. Robots of earlier versions keep no limit. */
export class Migration0031SpeedEnvelope extends Migration {
  override name = '0031_speed_envelope'

  override up(): void {
    this.addSql('alter table "robots" add column "latency_budget_ms" int null')
    this.addSql(`
      alter table "session_latency"
        add column "budgeted_ms" double precision not null default 0,
        add column "scaled_ms" double precision not null default 0,
        add column "limited_ms" double precision not null default 0,
        add column "min_speed_scale" double precision not null default 1`)
  }
}
