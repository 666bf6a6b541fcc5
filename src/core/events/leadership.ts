import type { Client, QueryConfig, QueryResult } from 'pg'

/** Any number; the same in every hub, so that one at a time relays. */
const RELAY_LOCK = 7_466_302
/** A leader asks the database something several times as often. One that is silent for so long is gone or frozen. */
const STALE_LEADER_MS = 1_000
/** When a leader that has nothing to ask asks all the same. */
const HEARTBEAT_MS = STALE_LEADER_MS / 4
/** A process is not frozen in every one of so many questions in a row: then it is the database that is slow. */
const MAX_VERIFY_ATTEMPTS = 3

/**
 * Ends the connection of a leader from which the database has heard nothing for too long. `wait_event_type` tells that
 * it waits for its client, so one whose query takes long is left in peace. All times are the server's.
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
  /** Tries to become the leader; answers with whether it is. */
  acquire(): Promise<boolean>
  /** Ends a leader that has fallen silent, if there is one; answers with whether there was. */
  evictStaleLeader(): Promise<boolean>
  /** Asks the database something as the leader. */
  query<Row extends object>(config: QueryConfig): Promise<QueryResult<Row>>
  /** Whether nobody else can have taken over by now. */
  readonly isLeadershipCertain: boolean
  /**
   * Makes certain again that this process leads.
   * @throws when it does not: the lock fell with the connection
   */
  verify(): Promise<void>
  /** Shows the other candidates a sign of life if one is due. */
  heartbeat(): Promise<void>
}

/**
 * One connection's claim to relay the outbox: a lock that falls with the connection, and that a candidate may take from
 * a leader which keeps its connection but does nothing with it any more: stopped, frozen, cut off by the network.
 *
 * What the leader knows of its lock is as old as the last question that was answered, counted from when it was asked.
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
