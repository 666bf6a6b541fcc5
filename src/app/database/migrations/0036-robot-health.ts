import { Migration } from '@mikro-orm/migrations'

/** Samples of the charge of connected robots. */
export class Migration0036RobotHealth extends Migration {
  override name = '0036_robot_health'

  override up(): void {
    this.addSql(`
      create table "robot_health_samples" (
        "robot_id" uuid not null,
        "at" timestamptz(3) not null,
        "battery" double precision null,
        primary key ("robot_id", "at")
      )`)
    this.addSql('create index "robot_health_samples_by_age" on "robot_health_samples" ("at")')
    this.addSql(`
      alter table "robot_health_samples" add constraint "robot_health_samples_robot_id_foreign"
        foreign key ("robot_id") references "robots" ("id") on delete cascade`)
  }
}
