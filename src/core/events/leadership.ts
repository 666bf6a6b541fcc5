import type { Client, QueryConfig, QueryResult } from 'pg'

/** Key of the advisory lock, the same in every hub. */
const RELAY_LOCK = 7_466_302
/** A leader queries several times as often. A leader that is silent for this long is gone or frozen. */
const STALE_LEADER_MS = 1_000
/** An idle leader sends a query this often. */
const HEARTBEAT_MS = STALE_LEADER_MS / 4
/** A process does not freeze in this many queries in a row: then the database is slow. */
const MAX_VERIFY_ATTEMPTS = 3

/**
 * Ends the connection of a leader that has sent nothing for too long. `wait_event_type` is `Client` only while the
 * server waits for the client, so a long query is not ended. All times are the server's.
 */
const EVICT_STALE_LEADER = `
  select pg_terminate_backend(a.pid)
  from pg_locks l join pg_stat_activity a on a.pid = l.pid
  where l.locktype = 'advisory' and l.granted
    and l.database = (select oid from pg_database where datname = current_database())
    and l.classid = 0 and l.objid = ${RELAY_LOCK} and l.objsubid = 1
    and a.wait_event_type = 'Client'
    and a.state_change < clock_timestamp() - interval '${STALE_LEADER_MS} ms'`

export interface Leadership {
  /** Tries to become the leader. Returns whether it is. */
  acquire(): Promise<boolean>
  /** Ends the connection of an unresponsive leader. Returns whether there was one. */
  evictStaleLeader(): Promise<boolean>
  /** Runs a query as the leader. */
  query<Row extends object>(config: QueryConfig): Promise<QueryResult<Row>>
  /** Whether no other process can have taken over yet. */
  readonly isLeadershipCertain: boolean
  /**
   * Verifies that this process is still the leader.
   * @throws when it is not: the lock was released with the connection
   */
  verify(): Promise<void>
  /** Sends a query when one is due, so that other candidates see that this leader is alive. */
  heartbeat(): Promise<void>
}

/**
 * Creates one connection's claim to relay the outbox: an advisory lock that PostgreSQL releases with the connection. A
 * candidate may take it from a leader that keeps its connection but is stopped, frozen or cut off by the network.
 *
 * The leader's knowledge of its lock is as old as the last answered query, counted from when that query was sent.
 */
export function createLeadership(client: Client): Leadership {
  let verifiedMs = Number.NEGATIVE_INFINITY
  const ageMs = () => performance.now() - verifiedMs
  const isLeadershipCertain = () => ageMs() < STALE_LEADER_MS

  async function query<Row extends object>(config: QueryConfig): Promise<QueryResult<Row>> {
    const sentAtMs = performance.now()
    const answer = await client.query<Row>(config)
    verifiedMs = sentAtMs
    return answer
  }

  const ping = () => query({ name: 'relay-keep', text: 'select 1' })

  return {
    query,
    async acquire() {
      const { rows } = await query<{ leading: boolean }>({
        text: 'select pg_try_advisory_lock($1) as leading',
        values: [RELAY_LOCK],
      })
      return rows[0]?.leading === true
    },
    async evictStaleLeader() {
      const { rowCount } = await client.query({ name: 'relay-silent', text: EVICT_STALE_LEADER })
      return (rowCount ?? 0) > 0
    },
    get isLeadershipCertain() {
      return isLeadershipCertain()
    },
    async verify() {
      for (let attempt = 0; attempt < MAX_VERIFY_ATTEMPTS && !isLeadershipCertain(); attempt++) await ping()
      if (!isLeadershipCertain()) verifiedMs = performance.now()
    },
    async heartbeat() {
      if (ageMs() >= HEARTBEAT_MS) await ping()
    },
  }
}
