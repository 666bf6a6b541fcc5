import type { PauseReason } from '@wheelhouse/protocol'
import { sql } from 'kysely'
import { iso } from '../../../core/database/iso.ts'
import type { Db } from '../../../core/database/tables.ts'
import type { Transact, Tx } from '../../../core/events/transactor.ts'
import { countActiveTime, elapsedMs, selectOutageBefore } from '../record/session-time.ts'
import {
  broadcastTransition,
  isConnected,
  lockRobot,
  type RobotRecord,
  type SessionRecord,
} from '../record/session-transitions.ts'

/** Selects open sessions whose robot is disconnected and was recorded as lost before `before`. */
export const lostSessions = (db: Db, before: Date) =>
  db
    .selectFrom('sessions')
    .innerJoin('robot_presence', 'robot_presence.robot_id', 'sessions.robot_id')
    .select(['sessions.id', 'sessions.robot_id'])
    .where('sessions.status', 'in', ['ACTIVE', 'PAUSED'])
    .where('sessions.robot_lost_at', '<', before)
    .where('robot_presence.connected', '=', false)

/**
 * Records the return of a robot in its open session. The transaction has locked the robot and found it connected. Does
 * nothing when the robot is not recorded as lost.
 */
export async function recordRobotReturn(tx: Tx, robot: RobotRecord, at: Date): Promise<void> {
  const returned = await tx.db
    .with('before', (cte) =>
      cte
        .selectFrom('sessions')
        .select(['id as counted_id', 'offline_ms as offline_before_ms'])
        .where('robot_id', '=', robot.id)
        .where('status', 'in', ['ACTIVE', 'PAUSED'])
        .forNoKeyUpdate(),
    )
    .updateTable('sessions')
    .from('before')
    .set((eb) => ({
      robot_lost_at: null,
      offline_ms: sql<number>`offline_ms + ${elapsedMs(sql`robot_lost_at`, sql`${at}::timestamptz`)}`,
      event_seq: eb('event_seq', '+', 1),
    }))
    .whereRef('id', '=', 'before.counted_id')
    .where('status', 'in', ['ACTIVE', 'PAUSED'])
    .where('robot_lost_at', 'is not', null)
    .returningAll('sessions')
    .returning('before.offline_before_ms')
    .executeTakeFirst()
  if (!returned) return
  await broadcastTransition(tx, returned, robot, {
    type: 'robot.back',
    at,
    details: { offline_seconds: (returned.offline_ms - returned.offline_before_ms) / 1_000 },
    notifyUserIds: [returned.client_id, returned.operator_id],
  })
}

/** Returns the last sign of life of a disconnected robot. The result cannot change while the robot is locked. */
async function lastOnline(tx: Tx, robotId: string): Promise<Date | null> {
  const row = await tx.db
    .selectFrom('robot_presence')
    .select('last_online')
    .where('robot_id', '=', robotId)
    .executeTakeFirst()
  return row?.last_online ?? null
}

/**
 * Whether the newest ACTIVE period of a session began after its robot had reconnected. A loss that is reported then is an
 * earlier one: it must not pause the session. While a robot is connected, `last_online` is the start of its connection.
 */
const beganAfterReconnect = sql<boolean>`exists (select from robot_presence p
  where p.robot_id = sessions.robot_id and p.connected and p.last_online < sessions.active_since)`

/** Pauses open sessions whose robot is lost, and records the robot's return. */
export function createSessionPresence(deps: {
  db: Db
  transact: Transact
  now: () => Date
  /** How long an open session waits for its lost robot. */
  robotGraceMs: number
}) {
  const { db, transact, now, robotGraceMs } = deps

  const openSession = (robotId: string) =>
    db
      .selectFrom('sessions')
      .selectAll()
      .where('robot_id', '=', robotId)
      .where('status', 'in', ['ACTIVE', 'PAUSED'])
      .executeTakeFirst()

  /** Records a loss. Returns whether the robot is connected again, so that its return must be recorded, too. */
  async function recordLoss(robotId: string, known: { unlessConnected: boolean; lastSign?: Date }) {
    if (!(await openSession(robotId))) return false
    return await transact(async (tx) => {
      const at = now()
      const robot = await lockRobot(tx, robotId)
      const connected = await isConnected(tx, robotId)
      if (connected && known.unlessConnected) return false
      const lost = await tx.db
        .with('before', (cte) =>
          selectOutageBefore(cte).where('robot_id', '=', robotId).where('status', 'in', ['ACTIVE', 'PAUSED']),
        )
        .updateTable('sessions')
        .from('before')
        .set((eb) => ({
          status: 'PAUSED' as const,
          ...countActiveTime('PAUSED', at, known.lastSign),
          robot_lost_at: at,
          paused_at: eb.fn.coalesce('paused_at', eb.val(at)),
          pause_reason: eb.fn.coalesce('pause_reason', eb.val<PauseReason>('robot_lost')),
          event_seq: eb('event_seq', '+', 1),
        }))
        .whereRef('id', '=', 'before.counted_id')
        .where('status', 'in', ['ACTIVE', 'PAUSED'])
        .where('robot_lost_at', 'is', null)
        .where((eb) => eb.not(beganAfterReconnect))
        .returningAll('sessions')
        .returning('before.outage_before_ms')
        .executeTakeFirst()
      if (!lost) return connected
      const lastSign = known.lastSign ?? (await lastOnline(tx, robotId))
      await broadcastTransition(tx, lost, robot, {
        type: 'robot.lost',
        at,
        reason: 'robot_lost' satisfies PauseReason,
        notifyUserIds: [lost.client_id, lost.operator_id],
        details: {
          last_sign_at: iso(lastSign),
          ends_at: iso(new Date(at.getTime() + robotGraceMs)),
          outage_seconds: 0,
        },
      })
      return connected
    })
  }

  /** Records the return of a robot and notifies client and operator. Only the operator can resume the session. */
  async function handleRobotReturned(robotId: string): Promise<void> {
    if (!(await openSession(robotId))) return
    await transact(async (tx) => {
      const robot = await lockRobot(tx, robotId)
      if (await isConnected(tx, robotId)) await recordRobotReturn(tx, robot, now())
    })
  }

  return {
    /**
     * Pauses the open session of a robot whose connection ended, and notifies client and operator. Also pauses when the
     * robot has reconnected, because it halted when the connection ended, unless the session became ACTIVE afterwards.
     * Records a loss only once. `lastSign` is the last sign of life of the ended connection; ACTIVE time after it is not
     * billed.
     */
    async handleRobotLost(robotId: string, lastSign: Date): Promise<void> {
      if (await recordLoss(robotId, { unlessConnected: false, lastSign })) await handleRobotReturned(robotId)
    },

    /** Does the same for a loss inferred from presence. Does nothing when the robot is connected. */
    async handleRobotInferredLost(robotId: string): Promise<void> {
      await recordLoss(robotId, { unlessConnected: true })
    },

    handleRobotReturned,

    /** Returns robots whose open session does not match their presence, because a process died in between. */
    async findPresenceMismatches(limit: number): Promise<{ lost: string[]; returned: string[] }> {
      const rows = await db
        .selectFrom('sessions')
        .innerJoin('robot_presence', 'robot_presence.robot_id', 'sessions.robot_id')
        .select(['sessions.robot_id', 'robot_presence.connected'])
        .where('sessions.status', 'in', ['ACTIVE', 'PAUSED'])
        .where((eb) =>
          eb.or([
            eb('robot_presence.connected', '=', true).and('sessions.robot_lost_at', 'is not', null),
            eb('robot_presence.connected', '=', false).and('sessions.robot_lost_at', 'is', null),
          ]),
        )
        .limit(limit)
        .execute()
      return {
        lost: rows.filter((row) => !row.connected).map((row) => row.robot_id),
        returned: rows.filter((row) => row.connected).map((row) => row.robot_id),
      }
    },

    /** Returns open sessions whose robot was recorded as lost before `before`. */
    lostSince: (before: Date, limit: number): Promise<Pick<SessionRecord, 'id' | 'robot_id'>[]> =>
      lostSessions(db, before).limit(limit).execute(),
  }
}
export type SessionPresence = ReturnType<typeof createSessionPresence>
