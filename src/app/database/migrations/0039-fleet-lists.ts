import { Migration } from '@mikro-orm/migrations'

/** Lets lists of fleets sort by name, and count by status with index-only scans. */
export class Migration0039FleetLists extends Migration {
  override name = '0039_fleet_lists'

  override up(): void {
    this.addSql('drop index "robots_by_owner_status"')
    this.addSql(
      'create index "robots_by_owner_status" on "robots" ("owner_id", "status", "created_at" desc, "id" desc) include ("robot_type") where "deleted_at" is null',
    )
    this.addSql(
      'create index "robots_by_owner_name" on "robots" ("owner_id", lower("name"), "id") where "deleted_at" is null',
    )
    this.addSql('drop index "sessions_by_operator_status"')
    this.addSql(
      'create index "sessions_by_operator_status" on "sessions" ("operator_id", "status", "created_at" desc, "id" desc) include ("robot_id", "client_id")',
    )
    this.addSql('drop index "sessions_by_client_status"')
    this.addSql(
      'create index "sessions_by_client_status" on "sessions" ("client_id", "status", "created_at" desc, "id" desc) include ("robot_id", "operator_id")',
    )
  }
}
