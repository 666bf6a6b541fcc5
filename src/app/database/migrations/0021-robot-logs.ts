import { Migration } from '@mikro-orm/migrations'

/** The log that each robot sends, and the charge that it reports. */
export class Migration0021RobotLogs extends Migration {
  override name = '0021_robot_logs'

  override up(): void {
    for (const statement of [logs, settings, battery]) this.addSql(statement)
  }
}

const logs = `
create table "robot_log_streams" (
  "robot_id" uuid not null,
  "head" bigint not null,
  "pruned_to" bigint not null default '0',
  "bytes" bigint not null default '0',
  "event_lines" int not null default 0,
  "event_level" text null,
  "event_message" text null,
  "event_since" timestamptz(3) null,
  "event_at" timestamptz(3) null,
  primary key ("robot_id")
);
create index "robot_log_streams_events" on "robot_log_streams" ("robot_id") where "event_lines" > 0;
alter table "robot_log_streams" add constraint "robot_log_streams_range" check ("pruned_to" between 0 and "head");
alter table "robot_log_streams" add constraint "robot_log_streams_event" check (("event_lines" > 0) = ("event_level" is not null));
alter table "robot_log_streams" add constraint "robot_log_streams_event_level_check" check ("event_level" in ('debug', 'info', 'warn', 'error'));
create table "robot_logs" (
  "robot_id" uuid not null,
  "seq" bigint not null,
  "level" text not null,
  "message" text not null,
  "dropped" int not null default 0,
  "at" timestamptz(3) not null,
  primary key ("robot_id", "seq")
);
create index "robot_logs_by_age" on "robot_logs" ("at");
alter table "robot_logs" add constraint "robot_logs_level_check" check ("level" in ('debug', 'info', 'warn', 'error'));
alter table "robot_log_streams" add constraint "robot_log_streams_robot_id_foreign" foreign key ("robot_id") references "robots" ("id") on update cascade on delete cascade;
alter table "robot_logs" add constraint "robot_logs_robot_id_foreign" foreign key ("robot_id") references "robots" ("id") on delete cascade;
`

const settings = `
alter table "robots" add column "log_event_level" text not null default 'error';
alter table "robots" add constraint "robots_log_event_level_check" check ("log_event_level" in ('off', 'warn', 'error'));
`

const battery = `
alter table "robot_presence"
  add column "battery" double precision null,
  add column "battery_at" timestamptz(3) null,
  add column "low_battery_threshold" double precision not null default 0.2,
  add column "battery_low" boolean not null default false,
  add column "battery_low_notified" boolean not null default false;
create index "presence_battery_low" on "robot_presence" ("robot_id") where "battery_low" and not "battery_low_notified";
`
