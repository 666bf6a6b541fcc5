import { Migration } from '@mikro-orm/migrations'

/** Owners filter their robots; certifications are revoked with a reason; admins remove roles. */
export class Migration0023RobotLists extends Migration {
  override name = '0023_robot_lists'

  override up(): void {
    this.addSql(
      'create index "robots_by_owner_status" on "robots" ("owner_id", "status", "created_at" desc, "id" desc) where "deleted_at" is null',
    )
    this.addSql(
      'create index "robots_by_owner_type" on "robots" ("owner_id", "robot_type", "created_at" desc, "id" desc) where "deleted_at" is null',
    )
    this.addSql(
      `create index "robots_available" on "robots" ("created_at" desc, "id" desc) where "status" = 'AVAILABLE' and "deleted_at" is null`,
    )
    this.addSql('alter table "certifications" add column "reason" text null')
    this.addSql('alter table "certifications" drop constraint "certifications_status_check"')
    this.addSql(
      `alter table "certifications" add constraint "certifications_status_check" check ("status" in ('PENDING', 'APPROVED', 'REJECTED', 'REVOKED'))`,
    )
    this.addSql(
      `alter table "certifications" add constraint "certifications_reason" check ("status" <> 'REVOKED' or "reason" is not null)`,
    )
    this.addSql(`alter table "users" add column "removed_roles" text[] not null default '{}'`)
  }
}
