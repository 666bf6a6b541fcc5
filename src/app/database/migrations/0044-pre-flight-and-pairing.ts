import { Migration } from '@mikro-orm/migrations'

/** Notes of owners for operators, and codes that robots exchange for their tokens. */
export class Migration0044PreFlightAndPairing extends Migration {
  override name = '0044_pre_flight_and_pairing'

  override up(): void {
    this.addSql('alter table "robots" add column "operator_notes" text null')
    this.addSql(`
      create table "robot_pairings" (
        "robot_id" uuid not null,
        "code_hash" text not null,
        "token_version" int not null,
        "expires_at" timestamptz(3) not null,
        "used_at" timestamptz(3) null,
        primary key ("robot_id")
      )`)
    this.addSql(
      'alter table "robot_pairings" add constraint "one_robot_per_pairing_code" unique ("code_hash")',
    )
    this.addSql(`
      alter table "robot_pairings" add constraint "robot_pairings_robot_id_foreign"
        foreign key ("robot_id") references "robots" ("id") on update cascade on delete cascade`)
  }
}
