import {
  type AutonomyMode,
  type ControlKind,
  type ControlSchema,
  FIRST_EPOCH,
  type Lease,
  type RecordingMode,
  type RobotStatus,
  type Role,
  type SessionStatus,
  type StopClear,
  type TelemetrySchema,
} from '@wheelhouse/protocol'
import { Pool } from 'pg'
import { connectSql, disconnectSql, heartbeatsSql, linkStatesSql } from './presence-statements.ts'

/** The open session of a robot. */
export interface OpenSession {
  readonly id: string
  readonly status: SessionStatus
  readonly operatorId: string
  readonly operatorName: string
  /** Who holds control, and in which epoch. */
  readonly lease: Lease
  /** The organization that owned the robot when the session was created. */
  readonly clientId: string
  /** The group of the robot; null without one. */
  readonly groupId: string | null
  /** Number of the newest entry of the session's event log. Of two snapshots, the higher number is the newer. */
  readonly eventSeq: number
  /** Whether a control socket of the operator has connected before. From then on the session requires one. */
  readonly driven: boolean
  /** Whether the operator's connection was found missing in the current pause, and has not returned since. */
  readonly operatorGone: boolean
  /** The gateway drops control frames that are older. */
  readonly latencyLimitMs: number
  /** The latency up to which the robot may drive at full speed; null for no limit of the speed. */
  readonly latencyBudgetMs: number | null
  /** The age of the operator's picture above which the robot does not move; null for no limit. */
  readonly videoLimitMs: number | null
  /** The content of the session's recording. */
  readonly recording: RecordingMode
  /** The commands that the robot accepts; null when none are declared. */
  readonly controlSchema: ControlSchema | null
  /** The telemetry that the robot sends; null when none is declared. */
  readonly telemetrySchema: TelemetrySchema | null
  /** Whether the gateway drops commands that the schema does not allow. */
  readonly strictControl: boolean
  /** Reason of the latched remote stop; null while no stop is latched. */
  readonly stopReason: string | null
  /** Role of the stop's first requester; null when the platform requested it, or without a stop. */
  readonly stopByRole: Role | null
  /** Whether the owner or an admin has requested the stop, too. */
  readonly stopByOwner: boolean
  /** The users who may clear a stop that the owner or an admin requested. */
  readonly stopClear: StopClear
  /** Start of the newest ACTIVE period, which identifies that period. Unix milliseconds. */
  readonly activeSinceMs: number
}

/** A request to make a socket its robot's connection. Times are Unix milliseconds. */
export interface ConnectRequest {
  readonly robotId: string
  readonly tokenVersion: number
  readonly atMs: number
  /**
   * Epoch of the same socket that the database has closed. The request then fails if another socket has connected since. Absent
   * for a new socket, which replaces every other.
   */
  readonly closedEpoch?: number
}
export interface ConnectResult {
  readonly robotId: string
  readonly ownerId: string
  readonly epoch: number
  readonly status: RobotStatus
  /** Whether another node had the robot's previous connection until now. */
  readonly takenOver: boolean
  /** Whether that node is draining and has closed the robot's connection. */
  readonly handedOver: boolean
  /** Last recorded sign of life of that previous connection; null unless `takenOver`. */
  readonly lastSign: Date | null
  readonly session: OpenSession | null
}

/** The newest reported charge, 0 to 1, and its time in Unix milliseconds; absent until the robot reports a charge. */
interface BatteryReport {
  readonly battery?: number | null
  readonly batteryMs?: number | null
}

/** The end of one connection. Times are Unix milliseconds; `lastHeartbeatMs` is 0 without a heartbeat. */
export interface DisconnectRequest extends BatteryReport {
  readonly robotId: string
  readonly epoch: number
  readonly lastSignMs: number
  readonly lastHeartbeatMs: number
}

/** A robot in an open session whose connection has ended. */
export interface LostRobot {
  readonly robotId: string
  /** Last recorded sign of life of the connection. */
  readonly lastSign: Date
}

export interface HeartbeatUpdate extends BatteryReport {
  readonly robotId: string
  readonly epoch: number
  readonly lastHeartbeatMs: number
  /** Whether the robot drives by itself; absent until it reports that. */
  readonly mode?: AutonomyMode | null
}

/** The state of a robot that its gateway compares with its own. */
export interface LinkState {
  readonly robotId: string
  /** Null once the robot is removed. */
  readonly tokenVersion: number | null
  readonly epoch: number
  /** Node of the newest connection, open or closed; null before the first connection. */
  readonly nodeId: string | null
  readonly connected: boolean
  readonly session: OpenSession | null
}

/**
 * Runs the statements of presence. Each statement covers any number of robots and is atomic.
 *
 * `coalesce(connected, false)` hides the statistics of that column from the planner. Statistics collected while no
 * robot was connected make the planner expect no rows: it then compares every robot with every item, which takes
 * seconds instead of milliseconds.
 *
 * The statements lock `robot_presence` before `robots`. They update the status of every named robot through a CASE,
 * not a WHERE: a WHERE would skip a row that a session is changing at that moment instead of waiting for it, and would
 * leave a disconnected robot AVAILABLE.
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
    query_timeout: 5_000, // bounds the wait for a connection that died silently
    keepAlive: true,
    // The reconciler restores presence after a crash of the database, so commits need not wait for the disk.
    onConnect: (client) => client.query('set synchronous_commit = off').then(() => {}),
  })
  // The pool replaces a broken idle connection. If the failure persists, the next statement reports it.
  pool.on('error', () => {})
  options.onPoolCreated?.(pool)

  return {
    /**
     * Opens an epoch for each socket whose token is current and, for a closed epoch, whose robot has not connected again. Omits
     * rejected sockets from the result.
     */
    async connect(nodeId: string, items: readonly ConnectRequest[]): Promise<ConnectResult[]> {
      const { rows } = await pool.query({
        name: 'presence-connect',
        text: connectSql,
        values: [
          nodeId,
          items.map((item) => item.robotId),
          items.map((item) => item.tokenVersion),
          items.map((item) => item.atMs),
          items.map((item) => item.closedEpoch ?? null),
        ],
      })
      return rows.map((row) => ({
        robotId: row.robot_id,
        ownerId: row.owner_id,
        epoch: row.epoch,
        status: row.status,
        takenOver: row.taken_over,
        handedOver: row.handed_over,
        lastSign: row.taken_over ? row.last_sign : null,
        session: openSession(row),
      }))
    },

    /** Closes connections unless a newer epoch has replaced them. Returns the robots in an open session. */
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

    /** Writes the newest heartbeat of each robot. Returns the number of connections that are still current. */
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
          items.map((item) => item.mode ?? null),
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

    /** Returns the robots of a node that changed within the last `windowMs` by the database's clock. */
    async changedWithin(nodeId: string, windowMs: number): Promise<string[]> {
      const { rows } = await pool.query({
        name: 'presence-changed',
        text: `select r.id from robots r join robot_presence p on p.robot_id = r.id
               where r.link_changed_at > now() - make_interval(secs => $2::float8 / 1000) and p.node_id = $1`,
        values: [nodeId, windowMs],
      })
      return rows.map((row) => row.id)
    },

    /** Returns the robots that the database records as connected to a node, with their epochs. */
    async connectedTo(nodeId: string): Promise<{ robotId: string; epoch: number }[]> {
      const { rows } = await pool.query({
        name: 'presence-connected-to',
        text: 'select robot_id, epoch from robot_presence where node_id = $1 and connected',
        values: [nodeId],
      })
      return rows.map((row) => ({ robotId: row.robot_id, epoch: row.epoch }))
    },

    /** Renews the lease of a gateway node. Inserts the node on first use. */
    async renewNode(nodeId: string, url: string): Promise<void> {
      await pool.query({
        name: 'presence-renew-node',
        text: `insert into gateway_nodes (id, url) values ($1, $2)
               on conflict (id) do update set seen_at = now(), url = excluded.url`,
        values: [nodeId, url],
      })
    },

    /** Marks a node as draining: new tickets name other nodes, and its robots have time to reconnect elsewhere. */
    async drainNode(nodeId: string): Promise<void> {
      await pool.query('update gateway_nodes set draining = true where id = $1', [nodeId])
    },

    /** Returns all nodes. `seenMark` is opaque and changes with each renewal. */
    async nodes(): Promise<{ id: string; seenMark: string; draining: boolean }[]> {
      const { rows } = await pool.query('select id, seen_at::text as seen_mark, draining from gateway_nodes')
      return rows.map((row) => ({ id: row.id, seenMark: row.seen_mark, draining: row.draining }))
    },

    /** Returns the ids of nodes that have connected robots but no row. */
    async orphanedNodes(): Promise<string[]> {
      const { rows } = await pool.query(
        `select distinct p.node_id from robot_presence p
         where p.connected and not exists (select from gateway_nodes n where n.id = p.node_id)`,
      )
      return rows.map((row) => row.node_id)
    },

    /** Removes a node unless robots are recorded as connected to it. Returns whether the node was removed. */
    async removeNode(nodeId: string): Promise<boolean> {
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
  operator_gone: boolean
  latency_limit_ms: number
  latency_budget_ms: number | null
  video_limit_ms: number | null
  recording: RecordingMode
  control_schema: ControlSchema | null
  telemetry_schema: TelemetrySchema | null
  strict_control: boolean
  client_id: string
  group_id: string | null
  stop_reason: string | null
  stop_by_role: Role | null
  stop_by_owner: boolean
  stop_clear: StopClear
  active_since: Date | null
  started_at: Date | null
  control_epoch: number | null
  participant_id: string | null
  holder_id: string | null
  holder_kind: ControlKind | null
  holder_name: string | null
  held_since: Date | null
}): OpenSession | null {
  if (row.session_id === null) return null
  return {
    id: row.session_id,
    status: row.session_status,
    operatorId: row.operator_id,
    operatorName: row.operator_name,
    lease: leaseOf(row),
    clientId: row.client_id,
    groupId: row.group_id,
    eventSeq: row.event_seq,
    driven: row.driven,
    operatorGone: row.operator_gone,
    latencyLimitMs: row.latency_limit_ms,
    latencyBudgetMs: row.latency_budget_ms,
    videoLimitMs: row.video_limit_ms,
    recording: row.recording,
    controlSchema: row.control_schema,
    telemetrySchema: row.telemetry_schema,
    strictControl: row.strict_control,
    stopReason: row.stop_reason,
    stopByRole: row.stop_by_role,
    stopByOwner: row.stop_by_owner,
    stopClear: row.stop_clear,
    activeSinceMs: row.active_since?.getTime() ?? 0,
  }
}

/** Returns the lease of a session. While control never changed hands, its operator holds it. */
function leaseOf(row: {
  session_id: string | null
  operator_id: string
  operator_name: string
  started_at: Date | null
  control_epoch: number | null
  participant_id: string | null
  holder_id: string | null
  holder_kind: ControlKind | null
  holder_name: string | null
  held_since: Date | null
}): Lease {
  const first = row.control_epoch === null
  const participant = first ? row.session_id : row.participant_id
  const userId = first ? row.operator_id : row.holder_id
  const since = first ? row.started_at : row.held_since
  return {
    epoch: row.control_epoch ?? FIRST_EPOCH,
    holder:
      participant === null || userId === null
        ? null
        : {
            participant_id: participant,
            kind: row.holder_kind ?? 'operator',
            user_id: userId,
            name: (first ? row.operator_name : row.holder_name) ?? '',
            since: (since ?? new Date(0)).toISOString(),
          },
  }
}
