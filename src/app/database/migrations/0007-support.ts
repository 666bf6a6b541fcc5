import { Migration } from '@mikro-orm/migrations'
import { robotModels } from './0007-robot-models.ts'

/** Contact messages and their delivery, robot requests, supported models, totals of all sessions. */
export class Migration0007Support extends Migration {
  override name = '0007_support'

  override up(): void {
    for (const statement of [tables, robotModels, auditCannotBeEmptied, totalsOfSessions]) {
      this.addSql(statement)
    }
  }
}

const tables = `
create table "contact_messages" (
  "id" uuid not null,
  "name" text not null,
  "email" text not null,
  "category" text not null,
  "subject" text not null,
  "message" text not null,
  "created_at" timestamptz(3) not null default now(),
  "delivered_at" timestamptz(3) null,
  "attempts" int not null default 0,
  "next_attempt_at" timestamptz(3) not null default now(),
  "claim" uuid null,
  "claimed_until" timestamptz(3) null,
  "last_error" text null,
  primary key ("id")
);
create index "contact_messages_due" on "contact_messages" ("next_attempt_at") where "delivered_at" is null;
create index "contact_messages_claimed" on "contact_messages" ("claimed_until") where "claimed_until" is not null;
create index "contact_messages_newest" on "contact_messages" ("created_at" desc, "id" desc);
create index "contact_messages_undelivered" on "contact_messages" ("created_at" desc, "id" desc) where "delivered_at" is null;
alter table "contact_messages" add constraint "contact_messages_claim" check (("claim" is null) = ("claimed_until" is null));
alter table "contact_messages" add constraint "contact_messages_delivered" check ("delivered_at" is null or "claim" is null);
alter table "contact_messages" add constraint "contact_messages_category_check" check ("category" in ('General Inquiry', 'Bug Report', 'Feature Request', 'Sales & Pricing', 'Partnership', 'Career/Jobs', 'Technical Support', 'Billing & Payments', 'Press & Media', 'Other'));
create table "robot_requests" (
  "id" uuid not null,
  "email" text not null,
  "robot_type" text not null,
  "name" text null,
  "details" text null,
  "created_at" timestamptz(3) not null default now(),
  primary key ("id")
);
create index "robot_requests_newest" on "robot_requests" ("created_at" desc, "id" desc);
create table "robot_models" (
  "id" text not null,
  "name" text not null,
  "manufacturer" text not null,
  "robot_type" text not null,
  "category" text not null,
  "degrees_of_freedom" int not null,
  "control_modes" text[] not null,
  "notes" text null,
  primary key ("id")
);
alter table "robot_models" add constraint "robot_models_robot_type" unique ("robot_type");
alter table "robot_models" add constraint "robot_models_degrees" check ("degrees_of_freedom" > 0);
alter table "robot_models" add constraint "robot_models_control_modes" check ("control_modes" <@ array['joint_position', 'joint_velocity', 'cartesian_pose', 'cartesian_velocity', 'base_velocity', 'gripper']);
alter table "robot_models" add constraint "robot_models_category_check" check ("category" in ('arm', 'bimanual', 'mobile_manipulator', 'mobile_base', 'quadruped', 'humanoid'));
create table "session_totals" (
  "shard" smallint not null,
  "completed" bigint not null default '0',
  "teleop_ms" bigint not null default '0',
  "episodes" bigint not null default '0',
  primary key ("shard")
);
create index "users_operators" on "users" ("id") where "is_operator";
`

/** Rows may not be changed or deleted (0002); nor may they be deleted all at once. */
const auditCannotBeEmptied = `
create trigger audit_log_not_emptied before truncate on audit_log
  for each statement execute function refuse_change();
`

/**
 * Counting a million sessions takes longer than a public statistic is worth, so the totals move with every change
 * of a session, whoever makes it. The triggers run when the transaction commits: the totals' row is the last lock
 * it takes, and is held for no longer than the commit.
 */
const totalsOfSessions = `
create function count_session() returns trigger language plpgsql as $$
declare
  more_completed bigint := 0;
  more_ms bigint := 0;
  more_episodes bigint := 0;
begin
  if tg_op <> 'INSERT' then
    more_episodes := more_episodes - old.episodes_collected;
    if old.status = 'COMPLETED' then
      more_completed := more_completed - 1;
      more_ms := more_ms - coalesce((extract(epoch from old.ended_at - old.started_at) * 1000)::bigint, 0);
    end if;
  end if;
  if tg_op <> 'DELETE' then
    more_episodes := more_episodes + new.episodes_collected;
    if new.status = 'COMPLETED' then
      more_completed := more_completed + 1;
      more_ms := more_ms + coalesce((extract(epoch from new.ended_at - new.started_at) * 1000)::bigint, 0);
    end if;
  end if;
  if more_completed <> 0 or more_ms <> 0 or more_episodes <> 0 then
    update session_totals
      set completed = completed + more_completed, teleop_ms = teleop_ms + more_ms, episodes = episodes + more_episodes
      where shard = pg_backend_pid() % 16;
  end if;
  return null;
end $$;

create constraint trigger sessions_counted_insert after insert on sessions
  deferrable initially deferred for each row
  when (new.status = 'COMPLETED' or new.episodes_collected <> 0)
  execute function count_session();

create constraint trigger sessions_counted_update
  after update of status, started_at, ended_at, episodes_collected on sessions
  deferrable initially deferred for each row
  when ((old.status = 'COMPLETED') <> (new.status = 'COMPLETED')
    or old.episodes_collected <> new.episodes_collected
    or (new.status = 'COMPLETED'
      and (old.started_at, old.ended_at) is distinct from (new.started_at, new.ended_at)))
  execute function count_session();

create constraint trigger sessions_counted_delete after delete on sessions
  deferrable initially deferred for each row
  when (old.status = 'COMPLETED' or old.episodes_collected <> 0)
  execute function count_session();

insert into session_totals (shard) select generate_series(0, 15);
update session_totals set (completed, teleop_ms, episodes) = (
  select count(*) filter (where status = 'COMPLETED'),
    coalesce(sum((extract(epoch from ended_at - started_at) * 1000)::bigint) filter (where status = 'COMPLETED'), 0),
    coalesce(sum(episodes_collected), 0)
  from sessions
) where shard = 0;
`
