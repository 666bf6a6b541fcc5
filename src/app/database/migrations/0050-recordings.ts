import { Migration } from '@mikro-orm/migrations'

/** Recordings of sessions, their segments and gaps, and episodes that participants mark. */
export class Migration0050Recordings extends Migration {
  override name = '0050_recordings'

  override up(): void {
    for (const statement of [robots, recordings, streams, access, episodes]) this.addSql(statement)
  }
}

const robots = `
alter table "robots" add column "recording" text not null default 'off';
alter table "robots" add column "recording_days" int null;
alter table "robots" add constraint "robots_recording_check" check ("recording" in ('off', 'control', 'video'));
alter table "robots" add constraint "robots_recording_days_check" check ("recording_days" between 1 and 3650);
`

const recordings = `
create table "recorder_nodes" (
  "id" uuid not null,
  "url" text not null,
  "draining" boolean not null default false,
  "seen_at" timestamptz(3) not null default now(),
  primary key ("id")
);
create table "recordings" (
  "id" uuid not null,
  "session_id" uuid not null,
  "robot_id" uuid not null,
  "client_id" uuid not null,
  "operator_id" uuid not null,
  "mode" text not null,
  "status" text not null default 'RECORDING',
  "paused_reason" text null,
  "started_at" timestamptz(3) not null,
  "ended_at" timestamptz(3) null,
  "finished_at" timestamptz(3) null,
  "expires_at" timestamptz(3) null,
  "size_bytes" bigint not null default '0',
  "segments" int not null default 0,
  "channels" jsonb not null default '[]',
  "file_key" text null,
  "error" text null,
  "control_schema" jsonb null,
  "telemetry_schema" jsonb null,
  primary key ("id"),
  constraint "one_recording_per_session" unique ("session_id"),
  constraint "recordings_mode_check" check ("mode" in ('control', 'video')),
  constraint "recordings_status_check" check ("status" in ('RECORDING', 'FINISHING', 'READY', 'FAILED')),
  constraint "recordings_ready" check (("status" = 'READY') = ("file_key" is not null)),
  constraint "recordings_failed" check (("status" = 'FAILED') = ("error" is not null)),
  constraint "recordings_sizes" check ("size_bytes" >= 0 and "segments" >= 0)
);
create index "recordings_by_client" on "recordings" ("client_id", "started_at" desc, "id" desc);
create index "recordings_by_robot" on "recordings" ("robot_id", "started_at" desc, "id" desc);
create index "recordings_unfinished" on "recordings" ("status", "session_id") where "status" in ('RECORDING', 'FINISHING');
create index "recordings_by_expiry" on "recordings" ("expires_at") where "expires_at" is not null;
alter table "recordings" add constraint "recordings_session_id_foreign" foreign key ("session_id") references "sessions" ("id");
alter table "recordings" add constraint "recordings_robot_id_foreign" foreign key ("robot_id") references "robots" ("id");
alter table "recordings" add constraint "recordings_client_id_foreign" foreign key ("client_id") references "users" ("id");
alter table "recordings" add constraint "recordings_operator_id_foreign" foreign key ("operator_id") references "users" ("id");
create table "recording_deletions" (
  "recording_id" uuid not null,
  "deleted_at" timestamptz(3) not null default now(),
  primary key ("recording_id")
);
`

const streams = `
create table "recording_streams" (
  "id" uuid not null,
  "recording_id" uuid not null,
  "source" text not null,
  "origin_id" uuid not null,
  "node_id" uuid not null,
  "opened_at" timestamptz(3) not null,
  "closed_at" timestamptz(3) null,
  primary key ("id")
);
create index "recording_streams_by_recording" on "recording_streams" ("recording_id", "opened_at");
create index "recording_streams_open" on "recording_streams" ("node_id") where "closed_at" is null;
create unique index "one_open_stream_per_origin" on "recording_streams" ("origin_id") where "closed_at" is null;
alter table "recording_streams" add constraint "recording_streams_recording_id_foreign" foreign key ("recording_id") references "recordings" ("id") on delete cascade;
create table "recording_segments" (
  "stream_id" uuid not null,
  "number" int not null,
  "recording_id" uuid not null,
  "from_at" timestamptz(3) not null,
  "to_at" timestamptz(3) not null,
  "last_ms" double precision not null,
  "messages" int not null,
  "size_bytes" int not null,
  "sha256" text not null,
  "object_key" text not null,
  "created_at" timestamptz(3) not null default now(),
  primary key ("stream_id", "number"),
  constraint "recording_segments_times" check ("to_at" >= "from_at"),
  constraint "recording_segments_sizes" check ("size_bytes" > 0 and "messages" > 0 and "number" >= 0)
);
create index "recording_segments_by_recording" on "recording_segments" ("recording_id", "from_at");
alter table "recording_segments" add constraint "recording_segments_stream_id_foreign" foreign key ("stream_id") references "recording_streams" ("id") on delete cascade;
alter table "recording_segments" add constraint "recording_segments_recording_id_foreign" foreign key ("recording_id") references "recordings" ("id") on delete cascade;
create table "recording_gaps" (
  "id" bigserial not null,
  "recording_id" uuid not null,
  "source" text not null,
  "origin_id" uuid null,
  "from_at" timestamptz(3) not null,
  "to_at" timestamptz(3) null,
  "reason" text not null,
  primary key ("id"),
  constraint "recording_gaps_times" check ("to_at" >= "from_at")
);
create index "recording_gaps_by_recording" on "recording_gaps" ("recording_id", "from_at");
alter table "recording_gaps" add constraint "recording_gaps_recording_id_foreign" foreign key ("recording_id") references "recordings" ("id") on delete cascade;
`

const access = `
create table "recording_downloads" (
  "id" bigserial not null,
  "recording_id" uuid not null,
  "user_id" uuid null,
  "share_id" uuid null,
  "kind" text not null,
  "at" timestamptz(3) not null default now(),
  primary key ("id"),
  constraint "recording_downloads_kind_check" check ("kind" in ('file', 'replay', 'export', 'foxglove'))
);
create index "recording_downloads_by_recording" on "recording_downloads" ("recording_id", "at" desc);
create table "recording_shares" (
  "id" uuid not null,
  "recording_id" uuid not null,
  "created_by" uuid not null,
  "created_at" timestamptz(3) not null default now(),
  "expires_at" timestamptz(3) not null,
  "revoked_at" timestamptz(3) null,
  "token_hash" text not null,
  primary key ("id"),
  constraint "one_recording_share_per_token" unique ("token_hash")
);
create index "recording_shares_by_recording" on "recording_shares" ("recording_id", "created_at" desc);
create table "recording_bookmarks" (
  "id" uuid not null,
  "recording_id" uuid not null,
  "user_id" uuid not null,
  "at" timestamptz(3) not null,
  "label" text not null,
  "created_at" timestamptz(3) not null default now(),
  primary key ("id")
);
create index "recording_bookmarks_by_recording" on "recording_bookmarks" ("recording_id", "at");
alter table "recording_downloads" add constraint "recording_downloads_recording_id_foreign" foreign key ("recording_id") references "recordings" ("id") on delete cascade;
alter table "recording_downloads" add constraint "recording_downloads_user_id_foreign" foreign key ("user_id") references "users" ("id");
alter table "recording_shares" add constraint "recording_shares_recording_id_foreign" foreign key ("recording_id") references "recordings" ("id") on delete cascade;
alter table "recording_shares" add constraint "recording_shares_created_by_foreign" foreign key ("created_by") references "users" ("id");
alter table "recording_bookmarks" add constraint "recording_bookmarks_recording_id_foreign" foreign key ("recording_id") references "recordings" ("id") on delete cascade;
alter table "recording_bookmarks" add constraint "recording_bookmarks_user_id_foreign" foreign key ("user_id") references "users" ("id");
`

const episodes = `
alter table "episodes" add column "source" text not null default 'robot';
alter table "episodes" add column "task" text null;
alter table "episodes" add column "recording_id" uuid null;
alter table "episodes" add column "marked_by" uuid null;
alter table "episodes" add constraint "episodes_source_check" check ("source" in ('robot', 'platform'));
create index "episodes_by_recording" on "episodes" ("recording_id") where "recording_id" is not null;
create index "episodes_by_session" on "episodes" ("session_id", "started_at") where "session_id" is not null;
create table "running_episodes" (
  "session_id" uuid not null,
  "robot_id" uuid not null,
  "started_at" timestamptz(3) not null,
  "task" text null,
  "started_by" uuid null,
  primary key ("session_id")
);
alter table "running_episodes" add constraint "running_episodes_session_id_foreign" foreign key ("session_id") references "sessions" ("id") on update cascade on delete cascade;
alter table "running_episodes" add constraint "running_episodes_robot_id_foreign" foreign key ("robot_id") references "robots" ("id");
`
