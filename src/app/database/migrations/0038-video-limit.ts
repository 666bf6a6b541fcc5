import { Migration } from '@mikro-orm/migrations'

/**
 * Lets owners limit the age of the picture by which operators drive, and records this age with each session. Robots of
 * earlier versions keep no limit, because their cameras may be slower than the limit of new robots.
 */
export class Migration0038VideoLimit extends Migration {
  override name = '0038_video_limit'

  override up(): void {
    this.addSql('alter table "robots" add column "video_limit_ms" int null')
    this.addSql(`
      alter table "session_latency"
        add column "video_buckets" bigint[] null,
        add column "video_max_ms" double precision not null default 0,
        add column "video_dropped" bigint not null default 0,
        add constraint "session_latency_video_buckets" check (cardinality("video_buckets") = 64)`)
  }
}
