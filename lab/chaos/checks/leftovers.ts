import { type Check, offending } from './check.ts'

/** More than all processes of the cluster together may open. */
const MOST_CONNECTIONS = 120

/** No remnants of the faults exist. */
export const nothingLeft: Check = {
  name: 'no remnants of the faults exist',
  run: async ({ db }) => [
    ...(await offending(
      db,
      'select id, name, created_at from outbox order by id limit 10',
      (row) => `outbox row ${row.id} (${row.name}) is not published`,
    )),
    ...(await offending(
      db,
      `select pid, application_name, state, query from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()
         and xact_start < now() - interval '5 seconds'`,
      (row) => `${row.application_name} (${row.pid}) has an old transaction, ${row.state}: ${row.query}`,
    )),
    ...(await offending(
      db,
      `select count(*) as count from pg_stat_activity
       where datname = current_database() and backend_type = 'client backend'
       having count(*) > ${MOST_CONNECTIONS}`,
      (row) => `${row.count} connections to the database`,
    )),
    ...(await offending(
      db,
      `select p.robot_id, p.node_id from robot_presence p left join gateway_nodes g on g.id = p.node_id
       where p.connected and g.id is null`,
      (row) => `robot ${row.robot_id} is connected to gateway ${row.node_id}, which does not exist`,
    )),
    ...(await offending(
      db,
      `select id, seen_at from gateway_nodes where seen_at < now() - interval '15 seconds'`,
      (row) => `gateway ${row.id} has not been seen since ${row.seen_at} and is still listed`,
    )),
    ...(await offending(
      db,
      `select s.id, s.status, s.stop_at is not null as stopped, r.status as robot_status
       from sessions s join robots r on r.id = s.robot_id
       where (s.status in ('ACTIVE', 'PAUSED')) <> (r.status = 'IN_SESSION')
         and (s.status in ('ACTIVE', 'PAUSED') or not exists (
           select from sessions o where o.robot_id = r.id and o.status in ('ACTIVE', 'PAUSED')))`,
      (row) => `session ${row.id} is ${row.status}, its robot ${row.robot_status}`,
    )),
  ],
}
