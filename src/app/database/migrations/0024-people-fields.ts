import { Migration } from '@mikro-orm/migrations'

/**
 * A hardware id belongs to one robot, however it is written. Of robots that differ in nothing but case the oldest keeps
 * its id; the others stay usable, get their own id behind it, and the audit log keeps what was there before.
 */
export class Migration0024PeopleFields extends Migration {
  override name = '0024_people_fields'

  override up(): void {
    for (const statement of [duplicates, index]) this.addSql(statement)
  }
}

const duplicates = `
with ranked as (
  select "id", "hardware_id", row_number() over (
    partition by lower(btrim("hardware_id")) order by "created_at", "id"
  ) as "place"
  from "robots" where "deleted_at" is null
), renamed as (
  update "robots" set "hardware_id" = ranked."hardware_id" || ' (duplicate ' || ranked."id" || ')'
  from ranked where ranked."id" = "robots"."id" and ranked."place" > 1
  returning "robots"."id", ranked."hardware_id" as "before", "robots"."hardware_id" as "after"
)
insert into "audit_log" ("at", "actor_id", "action", "subject_type", "subject_id", "data")
select now(), null, 'robot.hardware_id_changed', 'robot', "id",
  jsonb_build_object('before', "before", 'after', "after")
from renamed;
`

const index = `
drop index "one_robot_per_hardware_id";
create unique index "one_robot_per_hardware_id" on "robots" (lower(btrim("hardware_id"))) where "deleted_at" is null;
`
