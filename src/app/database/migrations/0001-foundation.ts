import { Migration } from '@mikro-orm/migrations'

/** The schema of the main job: accounts, robots and their presence, sessions and their log, the outbox. */
export class Migration0001Foundation extends Migration {
  override name = '0001_foundation'

  override up(): void {
    for (const statement of [tables, presenceStorage, inSessionMatchesOpenSession]) this.addSql(statement)
  }
}

const tables = `
create table "gateway_nodes" (
  "id" uuid not null,
  "url" text not null,
  "started_at" timestamptz(3) not null default now(),
  "seen_at" timestamptz(3) not null default now(),
  primary key ("id")
);
create table "outbox" (
  "id" bigserial primary key,
  "name" text not null,
  "payload" jsonb not null,
  "created_at" timestamptz(3) not null default now()
);
create table "users" (
  "id" uuid not null,
  "issuer" text not null,
  "subject" text not null,
  "email" text null,
  "email_verified" boolean not null default false,
  "display_name" text not null,
  "avatar_url" text null,
  "is_client" boolean not null default false,
  "is_operator" boolean not null default false,
  "notification_preferences" jsonb not null default '{}',
  "notification_seq" int not null default 0,
  "created_at" timestamptz(3) not null default now(),
  primary key ("id")
);
alter table "users" add constraint "users_issuer_subject" unique ("issuer", "subject");
create table "robots" (
  "id" uuid not null,
  "owner_id" uuid not null,
  "name" text not null,
  "robot_type" text not null,
  "hardware_id" text not null,
  "stream_url" text not null default '',
  "tags" text[] not null default '{}',
  "notes" text null,
  "status" text not null default 'OFFLINE',
  "require_certification" boolean not null default false,
  "latency_limit_ms" int not null default 400,
  "token_version" int not null default 1,
  "session_seconds" int not null default 0,
  "link_changed_at" timestamptz(3) not null default now(),
  "created_at" timestamptz(3) not null default now(),
  "deleted_at" timestamptz(3) null,
  primary key ("id")
);
create unique index "one_robot_per_hardware_id" on "robots" ("hardware_id") where "deleted_at" is null;
create index "robots_by_owner" on "robots" ("owner_id", "created_at" desc, "id" desc) where "deleted_at" is null;
create index "robots_available_by_type" on "robots" ("robot_type", "created_at" desc, "id" desc) where "status" = 'AVAILABLE' and "deleted_at" is null;
create index "robots_link_changed" on "robots" ("link_changed_at");
alter table "robots" add constraint "robots_status_check" check ("status" in ('OFFLINE', 'AVAILABLE', 'IN_SESSION'));
create table "sessions" (
  "id" uuid not null,
  "robot_id" uuid not null,
  "operator_id" uuid not null,
  "client_id" uuid not null,
  "status" text not null,
  "scheduled_for" timestamptz(3) null,
  "planned_minutes" int null,
  "started_at" timestamptz(3) null,
  "ended_at" timestamptz(3) null,
  "paused_at" timestamptz(3) null,
  "pause_reason" text null,
  "paused_ms" bigint not null default '0',
  "robot_lost_at" timestamptz(3) null,
  "end_reason" text null,
  "client_charge_cents" int null,
  "operator_earnings_cents" int null,
  "episodes_collected" int not null default 0,
  "data_collected_bytes" bigint not null default '0',
  "rating" smallint null,
  "rating_comment" text null,
  "event_seq" int not null default 0,
  "created_at" timestamptz(3) not null default now(),
  primary key ("id")
);
create unique index "one_open_session_per_operator" on "sessions" ("operator_id") where "status" in ('ACTIVE', 'PAUSED');
create unique index "one_open_session_per_robot" on "sessions" ("robot_id") where "status" in ('ACTIVE', 'PAUSED');
create index "sessions_by_operator" on "sessions" ("operator_id", "created_at" desc, "id" desc);
create index "sessions_by_client" on "sessions" ("client_id", "created_at" desc, "id" desc);
create index "sessions_by_operator_status" on "sessions" ("operator_id", "status", "created_at" desc, "id" desc);
create index "sessions_by_client_status" on "sessions" ("client_id", "status", "created_at" desc, "id" desc);
create index "sessions_due" on "sessions" ("scheduled_for") where "status" = 'PENDING';
create index "sessions_open" on "sessions" ("status", "robot_id") where "status" in ('ACTIVE', 'PAUSED');
create index "sessions_by_robot" on "sessions" ("robot_id");
alter table "sessions" add constraint "sessions_times" check ("ended_at" is null or "started_at" is null or "ended_at" >= "started_at");
alter table "sessions" add constraint "sessions_rating" check ("rating" between 1 and 5);
alter table "sessions" add constraint "sessions_open_started" check ("status" not in ('ACTIVE', 'PAUSED', 'COMPLETED') or "started_at" is not null);
alter table "sessions" add constraint "sessions_status_check" check ("status" in ('PENDING', 'ACTIVE', 'PAUSED', 'COMPLETED', 'CANCELLED'));
create table "session_events" (
  "session_id" uuid not null,
  "seq" int not null,
  "type" text not null,
  "data" jsonb not null,
  "at" timestamptz(3) not null default now(),
  primary key ("session_id", "seq")
);
create table "robot_presence" (
  "robot_id" uuid not null,
  "epoch" int not null default 0,
  "connected" boolean not null default false,
  "node_id" uuid null,
  "last_online" timestamptz(3) null,
  "last_heartbeat" timestamptz(3) null,
  "lost_at" timestamptz(3) null,
  primary key ("robot_id")
);
create index "presence_connected_by_node" on "robot_presence" ("node_id") where "connected";
create table "notifications" (
  "user_id" uuid not null,
  "seq" int not null,
  "type" text not null,
  "data" jsonb not null,
  "created_at" timestamptz(3) not null default now(),
  "read_at" timestamptz(3) null,
  primary key ("user_id", "seq")
);
create table "messages" (
  "id" uuid not null,
  "session_id" uuid not null,
  "seq" int not null,
  "sender_id" uuid not null,
  "sender_name" text not null,
  "sender_role" text not null,
  "body" text not null,
  "client_message_id" text null,
  "created_at" timestamptz(3) not null default now(),
  primary key ("id")
);
alter table "messages" add constraint "messages_seq" unique ("session_id", "seq");
alter table "messages" add constraint "messages_client_id" unique ("session_id", "sender_id", "client_message_id");
alter table "messages" add constraint "messages_sender_role_check" check ("sender_role" in ('client', 'operator', 'admin'));
create table "certifications" (
  "id" uuid not null,
  "operator_id" uuid not null,
  "robot_type" text not null,
  "status" text not null default 'PENDING',
  "note" text null,
  "requested_at" timestamptz(3) not null default now(),
  "decided_at" timestamptz(3) null,
  "decided_by_id" uuid null,
  primary key ("id")
);
create unique index "one_live_certification_per_type" on "certifications" ("operator_id", "robot_type") where "status" in ('PENDING', 'APPROVED');
create index "certifications_by_operator" on "certifications" ("operator_id", "requested_at");
create index "certifications_by_status" on "certifications" ("status", "requested_at");
alter table "certifications" add constraint "certifications_status_check" check ("status" in ('PENDING', 'APPROVED', 'REJECTED'));
create table "api_keys" (
  "id" uuid not null,
  "user_id" uuid not null,
  "name" text not null,
  "hash" text not null,
  "prefix" text not null,
  "last4" text not null,
  "created_at" timestamptz(3) not null default now(),
  "last_used_at" timestamptz(3) null,
  "expires_at" timestamptz(3) null,
  "revoked_at" timestamptz(3) null,
  primary key ("id")
);
alter table "api_keys" add constraint "api_keys_hash" unique ("hash");
create index "api_keys_by_user" on "api_keys" ("user_id", "created_at");
create index "api_keys_revoked_recently" on "api_keys" ("revoked_at") where "revoked_at" is not null;
alter table "robots" add constraint "robots_owner_id_foreign" foreign key ("owner_id") references "users" ("id");
alter table "sessions" add constraint "sessions_robot_id_foreign" foreign key ("robot_id") references "robots" ("id");
alter table "sessions" add constraint "sessions_operator_id_foreign" foreign key ("operator_id") references "users" ("id");
alter table "sessions" add constraint "sessions_client_id_foreign" foreign key ("client_id") references "users" ("id");
alter table "session_events" add constraint "session_events_session_id_foreign" foreign key ("session_id") references "sessions" ("id");
alter table "robot_presence" add constraint "robot_presence_robot_id_foreign" foreign key ("robot_id") references "robots" ("id") on update cascade on delete cascade;
alter table "notifications" add constraint "notifications_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade;
alter table "messages" add constraint "messages_session_id_foreign" foreign key ("session_id") references "sessions" ("id");
alter table "messages" add constraint "messages_sender_id_foreign" foreign key ("sender_id") references "users" ("id");
alter table "certifications" add constraint "certifications_operator_id_foreign" foreign key ("operator_id") references "users" ("id");
alter table "certifications" add constraint "certifications_decided_by_id_foreign" foreign key ("decided_by_id") references "users" ("id") on delete set null;
alter table "api_keys" add constraint "api_keys_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade;
`

/** Rewritten every second for every robot: part-empty pages keep the updates in place (HOT), vacuum comes early. */
const presenceStorage = `
alter table "robot_presence" set (
  fillfactor = 40, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0
);
`

/** A robot is IN_SESSION exactly while it has an open session; checked when the transaction commits. */
const inSessionMatchesOpenSession = `
create function check_robot_in_session(checked_robot_id uuid) returns void language plpgsql as $$
declare
  robot_status text;
  has_open_session boolean;
begin
  select status into robot_status from robots where id = checked_robot_id;
  if not found then
    return;
  end if;
  has_open_session := exists (
    select from sessions where robot_id = checked_robot_id and status in ('ACTIVE', 'PAUSED'));
  if (robot_status = 'IN_SESSION') is distinct from has_open_session then
    raise exception 'robot % is % but has_open_session is %', checked_robot_id, robot_status, has_open_session
      using errcode = 'check_violation', constraint = 'robot_in_session_matches_open_session';
  end if;
end $$;

create function robots_in_session_trigger() returns trigger language plpgsql as $$
begin perform check_robot_in_session(new.id); return null; end $$;

create function sessions_in_session_trigger() returns trigger language plpgsql as $$
begin perform check_robot_in_session(new.robot_id); return null; end $$;

create function sessions_left_robot_trigger() returns trigger language plpgsql as $$
begin perform check_robot_in_session(old.robot_id); return null; end $$;

create constraint trigger robots_in_session_insert after insert on robots
  deferrable initially deferred for each row
  when (new.status = 'IN_SESSION')
  execute function robots_in_session_trigger();

create constraint trigger robots_in_session after update of status on robots
  deferrable initially deferred for each row
  when (old.status is distinct from new.status and (old.status = 'IN_SESSION' or new.status = 'IN_SESSION'))
  execute function robots_in_session_trigger();

create constraint trigger sessions_in_session_insert after insert on sessions
  deferrable initially deferred for each row
  when (new.status in ('ACTIVE', 'PAUSED'))
  execute function sessions_in_session_trigger();

create constraint trigger sessions_in_session_update after update of status on sessions
  deferrable initially deferred for each row
  when ((old.status in ('ACTIVE', 'PAUSED')) <> (new.status in ('ACTIVE', 'PAUSED')))
  execute function sessions_in_session_trigger();

create constraint trigger sessions_in_session_move after update of robot_id on sessions
  deferrable initially deferred for each row
  when (old.robot_id <> new.robot_id and new.status in ('ACTIVE', 'PAUSED'))
  execute function sessions_in_session_trigger();

create constraint trigger sessions_left_robot_move after update of robot_id on sessions
  deferrable initially deferred for each row
  when (old.robot_id <> new.robot_id and old.status in ('ACTIVE', 'PAUSED'))
  execute function sessions_left_robot_trigger();

create constraint trigger sessions_left_robot_delete after delete on sessions
  deferrable initially deferred for each row
  when (old.status in ('ACTIVE', 'PAUSED'))
  execute function sessions_left_robot_trigger();
`
