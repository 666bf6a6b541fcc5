import { Migration } from '@mikro-orm/migrations'

/** What robots record: a dataset a robot, and its episodes. */
export class Migration0005Datasets extends Migration {
  override name = '0005_datasets'

  override up(): void {
    for (const statement of [tables, sessionsByStart]) this.addSql(statement)
  }
}

const tables = `
create table "datasets" (
  "id" uuid not null,
  "robot_id" uuid not null,
  "client_id" uuid not null,
  "episode_count" int not null default 0,
  "size_bytes" bigint not null default '0',
  "created_at" timestamptz(3) not null default now(),
  "updated_at" timestamptz(3) not null default now(),
  primary key ("id")
);
alter table "datasets" add constraint "one_dataset_per_robot" unique ("robot_id");
create index "datasets_by_client" on "datasets" ("client_id");
alter table "datasets" add constraint "datasets_episode_count" check ("episode_count" >= 0);
alter table "datasets" add constraint "datasets_size_bytes" check ("size_bytes" >= 0);
create table "episodes" (
  "id" uuid not null,
  "dataset_id" uuid not null,
  "robot_id" uuid not null,
  "session_id" uuid null,
  "episode_id" text not null,
  "started_at" timestamptz(3) not null,
  "ended_at" timestamptz(3) not null,
  "size_bytes" bigint not null,
  "success" boolean null,
  "uri" text null,
  "created_at" timestamptz(3) not null default now(),
  primary key ("id")
);
alter table "episodes" add constraint "one_episode_per_robot_and_id" unique ("robot_id", "episode_id");
create index "episodes_by_dataset" on "episodes" ("dataset_id", "started_at" desc, "id" desc);
alter table "episodes" add constraint "episodes_times" check ("ended_at" >= "started_at");
alter table "episodes" add constraint "episodes_size_bytes" check ("size_bytes" >= 0);
alter table "datasets" add constraint "datasets_robot_id_foreign" foreign key ("robot_id") references "robots" ("id");
alter table "datasets" add constraint "datasets_client_id_foreign" foreign key ("client_id") references "users" ("id");
alter table "episodes" add constraint "episodes_dataset_id_foreign" foreign key ("dataset_id") references "datasets" ("id");
alter table "episodes" add constraint "episodes_robot_id_foreign" foreign key ("robot_id") references "robots" ("id");
alter table "episodes" add constraint "episodes_session_id_foreign" foreign key ("session_id") references "sessions" ("id") on delete set null;
`

/** The session of an episode is found from the robot and the time, among however many the robot has had. */
const sessionsByStart = `
drop index "sessions_by_robot";
create index "sessions_by_robot" on "sessions" ("robot_id", "started_at");
`
