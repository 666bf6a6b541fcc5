import { Migration } from '@mikro-orm/migrations'

/** What the payment provider has told, each once, and how new what we know of its objects is. */
export class Migration0014ProviderEvents extends Migration {
  override name = '0014_provider_events'

  override up(): void {
    this.addSql(tables)
  }
}

const tables = `
create table "provider_events" (
  "id" text not null,
  "type" text not null,
  "at" timestamptz(3) not null default now(),
  primary key ("id")
);
create index "provider_events_by_age" on "provider_events" ("at");
create table "provider_objects" (
  "id" text not null,
  "asked_at" timestamptz(6) not null,
  primary key ("id")
);
`
