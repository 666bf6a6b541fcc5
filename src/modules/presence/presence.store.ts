import type { RobotStatus, Role, SessionStatus, StopClear } from '@wheelhouse/protocol'
import { Pool } from 'pg'
import { connectSql, disconnectSql, heartbeatsSql, linkStatesSql } from './presence-statements.ts'

/** The open session of a robot. */
export interface OpenSession {
  readonly id: string
  readonly status: SessionStatus
  readonly operatorId: string
  readonly operatorName: string
  /** The robot's owner when the session was made. */
  readonly clientId: string
  /** Number of the newest entry of its log: of two looks at it, the one with the higher number is the newer. */
  readonly eventSeq: number
  /** An operator's control socket was connected once: from then on the session needs one. */
  readonly driven: boolean
  /** Commands that take longer are not to move its robot. */
  readonly latencyLimitMs: number
  /** Why the robot must stand until the stop is cleared; null while no stop is in force. */
  readonly stopReason: string | null
  /** In which part the first requester of that stop did so; null when the platform did, or without a stop. */
  readonly stopByRole: Role | null
  /** Whether the owner or an admin is among the requesters of that stop. */
  readonly stopByOwner: boolean
  /** Who may clear such a stop. */
  readonly stopClear: StopClear
  /** When its newest stretch of ACTIVE time began: what tells one from the next. Unix milliseconds. */
  readonly activeSinceMs: number
}

/** A socket that asks to become its robot's connection. Times are Unix milliseconds. */
export interface ConnectRequest {
  readonly robotId: string
  readonly tokenVersion: number
  readonly atMs: number
}
export interface ConnectResult {
  readonly robotId: string
  readonly epoch: number
  readonly status: RobotStatus
  /** Another node held the robot's connection until now. */
  readonly takenOver: boolean
  /** That node was about to end, and had sent the robot away. */
  readonly handedOver: boolean
  /** The last sign of life of that connection which anybody knows of; null unless `moved`. */
  readonly lastSign: Date | null
  readonly session: OpenSession | null
}

/** The charge that a robot reported last, 0 to 1, and when, Unix milliseconds; missing while it has reported none. */
interface BatteryReport {
  readonly battery?: number | null
  readonly batteryMs?: number | null
}

/** The end of one connection. Times are Unix milliseconds; `lastHeartbeatMs` 0 = it never sent one. */
export interface DisconnectRequest extends BatteryReport {
  readonly robotId: string
  readonly epoch: number
  readonly lastSignMs: number
  readonly lastHeartbeatMs: number
}

/** A robot in an open session whose connection has ended. */
export interface LostRobot {
  readonly robotId: string
  /** The connection's last sign of life, as far as anybody knows. */
  readonly lastSign: Date
}

export interface HeartbeatUpdate extends BatteryReport {
  readonly robotId: string
  readonly epoch: number
  readonly lastHeartbeatMs: number
}

/** What a gateway must know of a robot it holds. */
export interface LinkState {
  readonly robotId: string
  /** Null once the robot is removed. */
  readonly tokenVersion: number | null
  readonly epoch: number
  /** Node of the newest connection, be it open or not; null when there was none. */
  readonly nodeId: string | null
  readonly connected: boolean
  readonly session: OpenSession | null
}

/**
 * The statements of presence, each for any number of robots at once and each atomic by itself.
 *
 * `coalesce(connected, false)` hides that column's statistics from the planner: taken while nobody was connected,
 * they make it expect no rows and compare every robot with every item, which takes seconds instead of
 * milliseconds.
 *
 * They take `robot_presence` before `robots`, and update the status of every robot they name through a CASE,
 * not a WHERE: a WHERE would skip a row that a session is just changing, instead of waiting for it, and leave
 * a robot AVAILABLE that is gone.
 */
export function createPresenceStore(options: {
  databaseUrl: string
  poolSize: number
  onPoolCreated?: (pool: Pool) => void
}) {
  const pool = new Pool({
    connectionString: options.databaseUrl,
    max: options.poolSize,
    application_name: 'wheelhouse-presence',
    connectionTimeoutMillis: 5_000,
    query_timeout: 5_000, // a connection that died in silence must not hold everybody up for long
    keepAlive: true,
    // Presence is found again by reconciling after a crash of the database, so it need not wait for the disk.
    onConnect: (client) => client.query('set synchronous_commit = off').then(() => {}),
  })
  // An idle connection that breaks is replaced; the next statement reports the trouble if it lasts.
  pool.on('error', () => {})
  options.onPoolCreated?.(pool)

  return {
    /** Opens an epoch for each socket whose token is current. Who is missing in the answer is not let in. */
    async connect(nodeId: string, items: readonly ConnectRequest[]): Promise<ConnectResult[]> {
      const { rows } = await pool.query({
        name: 'presence-connect',
        text: connectSql,
        values: [
          nodeId,
          items.map((item) => item.robotId),
          items.map((item) => item.tokenVersion),
          items.map((item) => item.atMs),
        ],
      })
      return rows.map((row) => ({
        robotId: row.robot_id,
        epoch: row.epoch,
        status: row.status,
        takenOver: row.moved,
        handedOver: row.handed_over,
        lastSign: row.moved ? row.last_sign : null,
        session: openSession(row),
      }))
    },

    /** Closes connections, unless a newer epoch has taken over. Returns the robots in an open session. */
    async disconnect(items: readonly DisconnectRequest[]): Promise<{ lostInSession: LostRobot[] }> {
      const { rows } = await pool.query({
        name: 'presence-disconnect',
        text: disconnectSql,
        values: [
          items.map((item) => item.robotId),
          items.map((item) => item.epoch),
          items.map((item) => item.lastSignMs),
          items.map((item) => item.lastHeartbeatMs),
          items.map((item) => item.battery ?? null),
          items.map((item) => item.batteryMs ?? null),
        ],
      })
      return { lostInSession: rows.map((row) => ({ robotId: row.robot_id, lastSign: row.last_online })) }
    },

    /** Writes the newest heartbeat of each robot. Returns how many connections still stand. */
    async saveHeartbeats(items: readonly HeartbeatUpdate[]): Promise<number> {
      const { rowCount } = await pool.query({
        name: 'presence-heartbeats',
        text: heartbeatsSql,
        values: [
          items.map((item) => item.robotId),
          items.map((item) => item.epoch),
          items.map((item) => item.lastHeartbeatMs),
          items.map((item) => item.battery ?? null),
          items.map((item) => item.batteryMs ?? null),
        ],
      })
      return rowCount ?? 0
    },

    async linkStates(robotIds: readonly string[]): Promise<LinkState[]> {
      const { rows } = await pool.query({
        name: 'presence-link-states',
        text: linkStatesSql,
        values: [robotIds],
      })
      return rows.map((row) => ({
        robotId: row.id,
        tokenVersion: row.deleted ? null : row.token_version,
        epoch: row.epoch,
        nodeId: row.node_id,
        connected: row.connected,
        session: openSession(row),
      }))
    },

    /** Robots of a node that changed within the last `windowMs`, by the database's clock. */
    async changedWithin(nodeId: string, windowMs: number): Promise<string[]> {
      const { rows } = await pool.query({
        name: 'presence-changed',
        text: `select r.id from robots r join robot_presence p on p.robot_id = r.id
               where r.link_changed_at > now() - make_interval(secs => $2::float8 / 1000) and p.node_id = $1`,
        values: [nodeId, windowMs],
      })
      return rows.map((row) => row.id)
    },

    /** Robots the database believes to be connected to a node, with their epochs. */
    async connectedTo(nodeId: string): Promise<{ robotId: string; epoch: number }[]> {
      const { rows } = await pool.query({
        name: 'presence-connected-to',
        text: 'select robot_id, epoch from robot_presence where node_id = $1 and connected',
        values: [nodeId],
      })
      return rows.map((row) => ({ robotId: row.robot_id, epoch: row.epoch }))
    },

    /** Says that a gateway node is alive; makes its row on first use. */
    async renewNode(nodeId: string, url: string): Promise<void> {
      await pool.query({
        name: 'presence-renew-node',
        text: `insert into gateway_nodes (id, url) values ($1, $2)
               on conflict (id) do update set seen_at = now(), url = excluded.url`,
        values: [nodeId, url],
      })
    },

    /** Says that a node is about to end: no ticket names it any more, and its robots have time to find another. */
    async drainNode(nodeId: string): Promise<void> {
      await pool.query('update gateway_nodes set draining = true where id = $1', [nodeId])
    },

    /** Every known node and when it was last seen, as an opaque mark that changes with each renewal. */
    async nodes(): Promise<{ id: string; seenMark: string; draining: boolean }[]> {
      const { rows } = await pool.query('select id, seen_at::text as seen_mark, draining from gateway_nodes')
      return rows.map((row) => ({ id: row.id, seenMark: row.seen_mark, draining: row.draining }))
    },

    /** Nodes that still own connected robots though their own row is gone. */
    async orphanedNodes(): Promise<string[]> {
      const { rows } = await pool.query(
        `select distinct p.node_id from robot_presence p
         where p.connected and not exists (select from gateway_nodes n where n.id = p.node_id)`,
      )
      return rows.map((row) => row.node_id)
    },

    /** Removes a node, unless robots are still taken to be connected to it. Answers whether it is gone. */
    async forgetNode(nodeId: string): Promise<boolean> {
      const { rowCount } = await pool.query(
        `delete from gateway_nodes n where id = $1
           and not exists (select from robot_presence p where p.node_id = n.id and p.connected)`,
        [nodeId],
      )
      return rowCount === 1
    },

    close: () => pool.end(),
  }
}
export type PresenceStore = ReturnType<typeof createPresenceStore>

function openSession(row: {
  session_id: string | null
  session_status: SessionStatus
  operator_id: string
  operator_name: string
  event_seq: number
  driven: boolean
  latency_limit_ms: number
  client_id: string
  stop_reason: string | null
  stop_by_role: Role | null
  stop_by_owner: boolean
  stop_clear: StopClear
  active_since: Date | null
}): OpenSession | null {
  if (row.session_id === null) return null
  return {
    id: row.session_id,
    status: row.session_status,
    operatorId: row.operator_id,
    operatorName: row.operator_name,
    clientId: row.client_id,
    eventSeq: row.event_seq,
    driven: row.driven,
    latencyLimitMs: row.latency_limit_ms,
    stopReason: row.stop_reason,
    stopByRole: row.stop_by_role,
    stopByOwner: row.stop_by_owner,
    stopClear: row.stop_clear,
    activeSinceMs: row.active_since?.getTime() ?? 0,
  }
}
