import { Migration } from '@mikro-orm/migrations'

/** How often a stop was pressed, so that a clearing takes away only what its sender could know of. */
export class Migration0016StopPresses extends Migration {
  override name = '0016_stop_presses'

  override up(): void {
    this.addSql('alter table "sessions" add column "stop_presses" int not null default 0')
  }
}
