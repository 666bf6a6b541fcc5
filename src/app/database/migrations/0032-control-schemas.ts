import { Migration } from '@mikro-orm/migrations'

/** Lets models and robots declare the commands that they accept. */
export class Migration0032ControlSchemas extends Migration {
  override name = '0032_control_schemas'

  override up(): void {
    this.addSql('alter table "robot_models" add column "control_schema" jsonb null')
    this.addSql(`
      alter table "robots"
        add column "control_schema" jsonb null,
        add column "strict_control" boolean not null default false`)
  }
}
