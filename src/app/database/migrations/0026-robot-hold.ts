import { Migration } from '@mikro-orm/migrations'

/** A stop of the owner or an admin outlives its session: the robot is on hold until the owner releases it. */
export class Migration0026RobotHold extends Migration {
  override name = '0026_robot_hold'

  override up(): void {
    this.addSql('alter table "robots" add column "on_hold" boolean not null default false')
  }
}
