import { appendEventSql } from '../../core/events/outbox-sql.ts'

/** The charge must exceed the threshold by this much before the battery counts as charged again. */
const BATTERY_RECOVERED_BY = 0.05

/**
 * Contains the assignments of a statement that updates `robot_presence p` from an input `i` with `battery` and
 * `battery_ms`. Both are null until the robot reports a charge. A comparison with null is not true, so these assignments
 * then change nothing.
 */
const batterySql = `
  battery = coalesce(i.battery, p.battery),
  battery_at = coalesce(to_timestamp(i.battery_ms / 1000), p.battery_at),
  battery_low = case
    when i.battery < p.low_battery_threshold then true
    when i.battery >= least(p.low_battery_threshold + ${BATTERY_RECOVERED_BY}, 1) then false
    else p.battery_low end,
  battery_low_notified = p.battery_low_notified
    and i.battery >= least(p.low_battery_threshold + ${BATTERY_RECOVERED_BY}, 1) is not true`

// The SQL of presence.store.ts, which explains the locking order and the query plans.

/** Emits the new statuses to the hub: one outbox row for all robots of a statement. */
const emitStatusSql = (changed: string) =>
  appendEventSql(
    'robots.status',
    `jsonb_build_object('robots', jsonb_agg(jsonb_build_object(
      'robot_id', id, 'owner_id', owner_id, 'robot_type', robot_type, 'status', status,
      'require_certification', require_certification, 'group_id', group_id, 'operators', operators,
      'last_heartbeat', to_char(last_heartbeat at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))))`,
    `${changed} having count(*) > 0`,
  )

/** Lists the columns of `sessions s`, its operator `users u` and the holder of control that `openSession` reads. */
const openSessionColumns = `s.id as session_id, s.status as session_status, s.stop_reason, s.active_since,
  s.event_seq, s.driven, s.operator_gone_at is not null as operator_gone, s.operator_id, u.display_name as operator_name, s.client_id, s.stop_by_role, s.stop_by_owner, s.started_at,
  held.epoch as control_epoch, held.participant_id, held.user_id as holder_id, held.started_at as held_since,
  case when held.epoch is null and u.service_of_id is not null then 'policy' else held.kind end as holder_kind,
  holder.display_name as holder_name`

/** Joins who holds control of the robot in the session. */
const holderJoin = `left join control_intervals held on held.session_id = s.id and held.ended_at is null
  left join users holder on holder.id = held.user_id`

/** Lists the columns of robots about commands and telemetry. Schemas are large, so they are read only with an open session. */
const controlColumns = (robot: string) =>
  `case when s.id is not null then coalesce(${robot}.control_schema, m.control_schema) end as control_schema,
  case when s.id is not null then coalesce(${robot}.telemetry_schema, m.telemetry_schema) end as telemetry_schema,
  ${robot}.strict_control, ${robot}.group_id`
const modelJoin = (robot: string) =>
  `left join robot_models m on s.id is not null and m.robot_type = ${robot}.robot_type`

/** Opens an epoch for each socket whose token is current; returns the robot's status and its open session. */
export const connectSql = `
with input as (
  select * from unnest($2::uuid[], $3::int[], $4::float8[], $5::int[])
    as i (robot_id, token_version, at_ms, closed_epoch)
), opened as (
  update robot_presence p
  set epoch = p.epoch + 1, connected = true, node_id = $1,
      last_online = to_timestamp(i.at_ms / 1000), lost_at = null, mode = null
  from input i
    join robots r on r.id = i.robot_id
    join robot_presence previous on previous.robot_id = i.robot_id
  where p.robot_id = i.robot_id and r.token_version = i.token_version and r.deleted_at is null
    and (i.closed_epoch is null or (p.epoch = i.closed_epoch and not coalesce(p.connected, false)))
  returning p.robot_id, p.epoch, p.last_heartbeat,
    previous.connected as was_connected, previous.node_id as previous_node_id,
    greatest(previous.last_online, previous.last_heartbeat) as last_sign
), status as (
  update robots r set status = case when r.status = 'OFFLINE' then 'AVAILABLE' else r.status end
  from opened o where r.id = o.robot_id and r.deleted_at is null
  returning r.id, r.owner_id, r.group_id, r.operators, r.robot_type, r.require_certification, r.status, r.latency_limit_ms, r.latency_budget_ms, r.video_limit_ms, r.recording, r.control_schema, r.telemetry_schema, r.strict_control, r.stop_clear, o.epoch, o.last_heartbeat, o.last_sign,
    (o.was_connected and o.previous_node_id is distinct from $1) as taken_over,
    exists (select from gateway_nodes n where n.id = o.previous_node_id and n.draining) as handed_over
), emitted as (${emitStatusSql("(select * from status where status = 'AVAILABLE') available")})
select o.id as robot_id, o.owner_id, o.epoch, o.status, o.taken_over, o.handed_over, o.last_sign, o.latency_limit_ms, o.latency_budget_ms, o.video_limit_ms, o.recording, o.stop_clear, ${openSessionColumns},
  ${controlColumns('o')}
from status o
  left join sessions s on s.robot_id = o.id and s.status in ('ACTIVE', 'PAUSED')
  left join users u on u.id = s.operator_id
  ${holderJoin}
  ${modelJoin('o')}`

/** Ends epochs; returns the robots in a session. */
export const disconnectSql = `
with input as (
  select * from unnest($1::uuid[], $2::int[], $3::float8[], $4::float8[], $5::float8[], $6::float8[])
    as i (robot_id, epoch, last_sign_ms, heartbeat_ms, battery, battery_ms)
), closed as (
  update robot_presence p
  set connected = false, lost_at = now(),
      last_online = greatest(p.last_online, p.last_heartbeat, to_timestamp(i.last_sign_ms / 1000)),
      last_heartbeat = case when i.heartbeat_ms > 0 then to_timestamp(i.heartbeat_ms / 1000) else p.last_heartbeat end,
      ${batterySql}
  from input i where p.robot_id = i.robot_id and p.epoch = i.epoch and coalesce(p.connected, false)
  returning p.robot_id, p.last_heartbeat, p.last_online
), status as (
  update robots r set status = case when r.status = 'AVAILABLE' then 'OFFLINE' else r.status end
  from closed c where r.id = c.robot_id
  returning r.id, r.owner_id, r.group_id, r.operators, r.robot_type, r.require_certification, r.status, r.deleted_at, c.last_heartbeat, c.last_online
), emitted as (${emitStatusSql("(select * from status where status = 'OFFLINE' and deleted_at is null) offline")})
select id as robot_id, last_online from status where status = 'IN_SESSION'`

/** Writes the newest heartbeat of each connection that is still the current one. */
export const heartbeatsSql = `
update robot_presence p set last_heartbeat = to_timestamp(i.heartbeat_ms / 1000), mode = i.mode, ${batterySql}
from unnest($1::uuid[], $2::int[], $3::float8[], $4::float8[], $5::float8[], $6::text[])
  as i (robot_id, epoch, heartbeat_ms, battery, battery_ms, mode)
where p.robot_id = i.robot_id and p.epoch = i.epoch and coalesce(p.connected, false)`

/** Returns token version, settings, connection and open session of robots, for their gateway. */
export const linkStatesSql = `
select r.id, r.token_version, r.deleted_at is not null as deleted, r.latency_limit_ms, r.latency_budget_ms, r.video_limit_ms, r.recording, r.stop_clear, p.epoch, p.node_id,
  p.connected,
  ${openSessionColumns},
  ${controlColumns('r')}
from robots r
  join robot_presence p on p.robot_id = r.id
  left join sessions s on s.robot_id = r.id and s.status in ('ACTIVE', 'PAUSED')
  left join users u on u.id = s.operator_id
  ${holderJoin}
  ${modelJoin('r')}
where r.id = any($1::uuid[])`
