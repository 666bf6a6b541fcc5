import { Migration } from '@mikro-orm/migrations'

/** Planned lengths of sessions: no two bookings of one robot or one operator overlap. Announcements of limits. */
export class Migration0019SessionPlanning extends Migration {
  override name = '0019_session_planning'

  override up(): void {
    for (const statement of [columns, windows, doubleBookings, rules]) this.addSql(statement)
  }
}

const columns = `
create extension if not exists btree_gist;
alter table "sessions"
  add column "planned_end_announced" timestamptz(3) null,
  add column "pause_announced_at" timestamptz(3) null;
update "sessions" set "planned_minutes" = 60 where "status" = 'PENDING' and "planned_minutes" is null;
`

/** The window of a session; the same expression stands in the constraints, where a function would hide it. */
const windows = `
create function pg_temp.window_of(s sessions) returns tstzrange language sql immutable as $$
  select tstzrange(least(s.scheduled_for, s.started_at), (least(s.scheduled_for, s.started_at) at time zone 'UTC' + make_interval(mins => s.planned_minutes)) at time zone 'UTC')
$$;
`

/**
 * Cancels what was booked twice: of bookings that overlap the first one stays, open sessions before all. Both sides
 * find the cancellation in the log of the session, among their notifications and in their events.
 */
const doubleBookings = `
do $$
declare
  booking record;
  party uuid;
  about jsonb;
  number int;
begin
  for booking in
    select s.id, s.robot_id, s.operator_id, s.client_id, s.created_at, pg_temp.window_of(s) as span, r.name as robot_name
    from sessions s join robots r on r.id = s.robot_id
    where s.status = 'PENDING'
    order by s.created_at, s.id
    for update of s
  loop
    if not exists (
      select from sessions other
      where other.id <> booking.id
        and (other.robot_id = booking.robot_id or other.operator_id = booking.operator_id)
        and other.planned_minutes is not null
        and (other.status in ('ACTIVE', 'PAUSED')
          or (other.status = 'PENDING' and (other.created_at, other.id) < (booking.created_at, booking.id)))
        and pg_temp.window_of(other) && booking.span
    ) then
      continue;
    end if;
    update sessions set status = 'CANCELLED', ended_at = now(), end_reason = 'double_booked', event_seq = event_seq + 1
    where id = booking.id returning event_seq into number;
    insert into session_events (session_id, seq, type, data, at)
    values (booking.id, number, 'session.cancelled', '{"status": "CANCELLED", "reason": "double_booked"}', now());
    insert into outbox (name, payload)
    select 'session.event', jsonb_build_object('session_id', session_id, 'seq', seq, 'type', type, 'data', data,
      'at', to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    from session_events where session_id = booking.id and seq = number;
    about := jsonb_build_object('session_id', booking.id, 'robot_id', booking.robot_id,
      'robot_name', booking.robot_name, 'reason', 'double_booked');
    for party in
      select distinct id from unnest(array[booking.client_id, booking.operator_id]) as parties (id) order by id
    loop
      update users set notification_seq = notification_seq + 1, notification_unread = notification_unread + 1
      where id = party returning notification_seq into number;
      insert into notifications (user_id, seq, type, data) values (party, number, 'session.cancelled', about);
      insert into outbox (name, payload)
      select 'notification', jsonb_build_object('user_id', party, 'notification', jsonb_build_object(
        'id', seq::text, 'type', type, 'data', data,
        'created_at', to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))
      from notifications where user_id = party and seq = number;
    end loop;
  end loop;
end
$$;
`

/** What was changed above is checked now: a table with checks that wait for the commit cannot be altered. */
const rules = `
set constraints all immediate;
drop function pg_temp.window_of(sessions);
alter table "sessions" add constraint "sessions_planned_minutes" check ("planned_minutes" > 0);
alter table "sessions" add constraint "sessions_pending_planned" check ("status" <> 'PENDING' or ("scheduled_for" is not null and "planned_minutes" is not null));
create function "default_planned_minutes"() returns trigger language plpgsql as $$
begin
  new.planned_minutes := 60;
  return new;
end $$;
-- Processes of the version before plan no length; they go on beside this one during a rolling restart.
create trigger "sessions_planned_default" before insert on "sessions"
  for each row when (new.status = 'PENDING' and new.planned_minutes is null) execute function "default_planned_minutes"();
alter table "sessions" add constraint "sessions_robot_window" exclude using gist ("robot_id" with =, tstzrange(least("scheduled_for", "started_at"), (least("scheduled_for", "started_at") at time zone 'UTC' + make_interval(mins => "planned_minutes")) at time zone 'UTC') with &&) where ("status" in ('PENDING', 'ACTIVE', 'PAUSED') and "planned_minutes" is not null);
alter table "sessions" add constraint "sessions_operator_window" exclude using gist ("operator_id" with =, tstzrange(least("scheduled_for", "started_at"), (least("scheduled_for", "started_at") at time zone 'UTC' + make_interval(mins => "planned_minutes")) at time zone 'UTC') with &&) where ("status" in ('PENDING', 'ACTIVE', 'PAUSED') and "planned_minutes" is not null);
`
