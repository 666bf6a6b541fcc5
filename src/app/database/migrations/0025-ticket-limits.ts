import { Migration } from '@mikro-orm/migrations'

/** How many tickets each user was issued, so that only the newest ones are valid. */
export class Migration0025TicketLimits extends Migration {
  override name = '0025_ticket_limits'

  override up(): void {
    this.addSql(`
      create table "ticket_counters" ("user_id" uuid not null, "issued" bigint not null,
        constraint "ticket_counters_issued" check ("issued" > 0),
        constraint "ticket_counters_pkey" primary key ("user_id"));
      alter table "ticket_counters" add constraint "ticket_counters_user_id_foreign"
        foreign key ("user_id") references "users" ("id") on update cascade on delete cascade;
    `)
  }
}
