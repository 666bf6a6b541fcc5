import { Migration } from '@mikro-orm/migrations'

/** Lets lists filter robots by a tag, and those of the whole platform by a low battery. */
export class Migration0046RobotFilters extends Migration {
  override name = '0046_robot_filters'

  override up(): void {
    this.addSql(
      `create index "robots_by_tag" on "robots" using gin ("tags") where "deleted_at" is null and "tags" <> '{}'`,
    )
    this.addSql(
      `create index "robots_with_tags" on "robots" ("owner_id") where "deleted_at" is null and "tags" <> '{}'`,
    )
    // Heartbeats change the mark seldom, unlike the charge, so they still update the row in place.
    this.addSql(
      'create index "presence_with_low_battery" on "robot_presence" ("robot_id") where "battery_low"',
    )
  }
}
