import { Migration } from '@mikro-orm/migrations'

/** Lets admins search users by parts of names and addresses, and list users, robots and sessions of the whole platform. */
export class Migration0041AdminLists extends Migration {
  override name = '0041_admin_lists'

  override up(): void {
    this.addSql('create extension if not exists pg_trgm')
    for (const statement of indexes) this.addSql(statement)
  }
}

/** An expression sorts the indexes of the whole platform, so that PostgreSQL does not use them for lists of single users. */
const indexes = [
  'create index "users_newest" on "users" ("created_at" desc, "id" desc)',
  'create index "users_suspended" on "users" ("created_at" desc, "id" desc) where "suspended_at" is not null',
  'create index "users_by_email" on "users" (lower("email" collate "C"))',
  `create index "users_search" on "users" using gin (("display_name" || ' ' || coalesce("email", '')) gin_trgm_ops)`,
  `create index "robots_newest" on "robots" (("created_at" at time zone 'UTC') desc, "id" desc) where "deleted_at" is null`,
  'create index "robots_by_name" on "robots" (lower("name") text_pattern_ops) where "deleted_at" is null',
  `create index "sessions_newest" on "sessions" (("created_at" at time zone 'UTC') desc, "id" desc)`,
  `create index "sessions_by_status" on "sessions" ("status", ("created_at" at time zone 'UTC') desc, "id" desc)`,
  'create index "sessions_by_robot_newest" on "sessions" ("robot_id", "created_at" desc, "id" desc)',
]
