import { randomUUID } from 'node:crypto'
import type { ControlAction, ControlLease, Lease, TransferReason } from '@wheelhouse/protocol'
import { sql } from 'kysely'
import { audit } from '../../../core/audit/audit.ts'
import { createBatchLoader } from '../../../core/database/batch-loader.ts'
import type { Db } from '../../../core/database/tables.ts'
import { AppError, conflict, forbidden } from '../../../core/errors/errors.ts'
import { createAheadLimit } from '../../../core/events/ahead-limit.ts'
import type { Bus } from '../../../core/events/bus.ts'
import type { Transact, Tx } from '../../../core/events/transactor.ts'
import type { Caller } from '../../../core/http/endpoint.ts'
import { credentialOf, requireKeyFor } from '../../../core/permissions/authorization.ts'
import type { SessionDetailRow } from '../record/session.view.ts'
import { appendToLog } from '../record/session-event-log.ts'
import { pause } from '../record/session-pause.ts'
import type { SessionQueries } from '../record/session-queries.ts'
import {
  broadcastTransition,
  lockForLogEntry,
  lockRobot,
  type RobotRecord,
  type SessionRecord,
} from '../record/session-transitions.ts'
import {
  candidatesOf,
  findGuest,
  type LeasedSession,
  loggedHolder,
  type NamedCandidate,
} from './candidates.ts'
import { decideLease, heirOf, type LeaseState } from './lease-rules.ts'
import {
  beginEpoch,
  joinControl,
  loggedRequest,
  openRequests,
  readLease,
  requestView,
} from './lease-store.ts'
import { createTurns } from './turns.ts'

/** How long an offer or a request waits for an answer. */
const CONTROL_REQUEST_LIFETIME_MS = 60_000
/** Open offers and requests of one session. */
const MAX_OPEN_REQUESTS = 16

const OPEN = ['ACTIVE', 'PAUSED'] as const

/** What a user does with the lease. */
export interface LeaseCommand {
  readonly action: ControlAction
  readonly to?: string | undefined
  readonly requestId?: string | undefined
  readonly reason?: string | undefined
}

/** Changes that the gateway halts the robot for before the database is asked. */
const isAhead = ({ action, requestId }: LeaseCommand): boolean =>
  action === 'take_over' || action === 'return' || (action === 'revoke' && requestId === undefined)

/**
 * Decides who controls the robot of a session. Every change is one transaction that begins the next epoch; gateways learn of it from a
 * hint with the new holder, and from polls. Nobody becomes the holder while the database is unavailable.
 */
export function createControlLeases(deps: {
  db: Db
  transact: Transact
  now: () => Date
  bus: Bus
  queries: SessionQueries
}) {
  const { db, transact, now, bus, queries } = deps
  const takeTurn = createTurns()
  const maySendAhead = createAheadLimit()

  async function view(session: SessionDetailRow): Promise<ControlLease> {
    const isOpen = session.status === 'ACTIVE' || session.status === 'PAUSED'
    const [lease, requests] = await Promise.all([
      readLease(db, session),
      isOpen ? openRequests(db, session.id, now()).execute() : [],
    ])
    return {
      epoch: lease.epoch,
      holder: isOpen ? lease.holder : null,
      requests: requests.map(requestView),
    }
  }

  /** How many commands have halted a robot ahead and are not answered yet, by session and user. */
  const ahead = new Map<string, number>()
  const aheadKey = (sessionId: string, userId: string) => `${sessionId} ${userId}`

  /**
   * Tells the gateway of a command that takes control away, so that the robot halts before the database is asked. Call the result
   * when the command is answered: the former holder then drives on, unless control has changed hands. A policy takes control from
   * nobody, and of a user who sends too many commands the robot halts when the database has decided.
   */
  function haltAhead(caller: Caller, sessionId: string, command: LeaseCommand): () => void {
    const { userId, organization } = caller
    if (caller.isProgram || !isAhead(command) || !maySendAhead(userId)) return () => {}
    const key = aheadKey(sessionId, userId)
    const count = (change: 1 | -1) => {
      const after = (ahead.get(key) ?? 0) + change
      if (after === 0) ahead.delete(key)
      else ahead.set(key, after)
      // Each begin: the gateway gives up the wait for an earlier one, and who asks again must not find the robot moving.
      if (change === 1 || after === 0)
        bus.publish('control.changing', { sessionId, begins: change === 1, userId, organization })
    }
    count(1)
    return () => count(-1)
  }

  /** Reads the lease of a session, and which of the users who matter may control the robot. */
  async function look(from: Db, session: JudgedSession, userIds: readonly string[]) {
    const lease = await readLease(from, session)
    const { holder, earlierIds } = lease
    const ids = [...userIds, session.operator_id, ...(holder ? [holder.user_id] : []), ...earlierIds]
    return { lease, known: await candidatesOf(from, session, ids) }
  }
  /** The same for many who reach for the same robot at once. */
  const lookTogether = createBatchLoader(
    async (wanted: readonly { readonly session: JudgedSession; readonly userIds: readonly string[] }[]) => {
      const looks = new Map<string, ReturnType<typeof look>>()
      for (const [id, group] of Map.groupBy(wanted, ({ session }) => session.id)) {
        const [{ session }] = group as [(typeof wanted)[number]]
        const userIds = group.flatMap((one) => one.userIds)
        looks.set(id, look(db, session, userIds))
      }
      return await Promise.all(wanted.map(({ session }) => looks.get(session.id) as ReturnType<typeof look>))
    },
    { intervalMs: 2 },
  )

  /**
   * Decides a command.
   * @throws 403 or 409 if it is refused
   */
  async function judge(
    from: Db,
    session: JudgedSession,
    caller: Caller,
    { action, to, requestId }: LeaseCommand,
  ) {
    const request =
      requestId === undefined
        ? undefined
        : ((await openRequests(from, session.id, now())
            .where('asked.id', '=', requestId)
            .executeTakeFirst()) ?? null)
    const userIds = [caller.userId, to, request?.from_id].filter((id) => id !== undefined)
    const { lease, known } =
      from === db ? await lookTogether({ session, userIds }) : await look(from, session, userIds)
    const me = meOf(caller, session, known)
    if (!me)
      throw forbidden(
        'control_not_allowed',
        'Your part in the session does not include controlling the robot.',
      )
    const target = to === undefined ? null : (known.get(to) ?? (await findGuest(from, session, to)))
    if (target === undefined)
      throw conflict('control_ineligible', 'to: must be the id of a user who may control this robot now')
    const decision = decideLease(stateOf(lease, session, known), me, {
      action,
      to: target,
      ...(request !== undefined && {
        request: request && {
          id: request.id,
          kind: request.kind,
          from: request.from_id,
          to: request.to_id,
          sender: known.get(request.from_id) ?? null,
        },
      }),
    })
    if (decision.do === 'refuse') throw new AppError(decision.status, decision.code, decision.why)
    return { decision, lease, known, me, target }
  }

  /** Performs a command in a transaction that has locked the robot and the session. */
  async function perform(
    tx: Tx,
    session: SessionRecord & { readonly operator_name: string },
    robot: RobotRecord,
    caller: Caller,
    command: LeaseCommand,
  ): Promise<void> {
    const { decision, lease, known, me, target } = await judge(tx.db, session, caller, command)
    const context = { at: now(), actorId: caller.userId, credential: credentialOf(caller) }
    if (decision.do === 'transfer') {
      const holder = decision.to && (known.get(decision.to.userId) ?? null)
      return await transfer(tx, session, robot, lease, { ...context, holder, reason: decision.reason })
    }
    if (decision.do === 'close')
      return await closeRequest(tx, session, command.requestId as string, decision.outcome, context)
    await ask(tx, session, robot, lease, {
      ...context,
      kind: decision.kind,
      target,
      me,
      reason: command.reason,
    })
  }

  /** Begins the next epoch, and tells everybody. */
  async function transfer(
    tx: Tx,
    session: SessionRecord,
    robot: RobotRecord,
    lease: Lease,
    change: {
      holder: NamedCandidate | null
      reason: TransferReason
      at: Date
      actorId?: string
      credential?: string
    },
  ): Promise<void> {
    const { at, actorId, credential, holder, reason } = change
    const { holder: from } = lease
    // What somebody gets from others is never refused: a holder that is lost, or gives control back, must find an heir.
    if (holder && holder.userId === actorId) await requireFree(tx, session, holder)
    const next = await beginEpoch(tx, session, lease, { holder, reason, at })
    await tx.db
      .updateTable('control_requests')
      .set({ closed_at: at })
      .where('session_id', '=', session.id)
      .where('closed_at', 'is', null)
      .execute()
    const details = { from: loggedHolder(from), to: loggedHolder(next.holder), epoch: next.epoch, reason }
    const concerned = [from, next.holder].flatMap((one) =>
      one && one.kind !== 'policy' ? [one.user_id] : [],
    )
    await broadcastTransition(tx, session, robot, {
      type: 'control.transferred',
      at,
      ...(actorId !== undefined && { actorId }),
      details,
      notifyUserIds: [...new Set(concerned)],
      exceptActor: true,
    })
    tx.controlTransferred({ sessionId: session.id, ...next })
    if (reason === 'taken_over' || reason === 'revoked')
      await audit(tx, {
        at,
        organizationId: session.client_id,
        actorId,
        credential,
        action: `session.control_${reason}`,
        subject: ['session', session.id],
        data: details,
      })
    if (next.holder === null) await pause(tx, session, robot, { at, reason: 'control_vacant' })
  }

  /** Opens an offer or a request. An earlier one of the same user is closed: nobody asks twice at a time. */
  async function ask(
    tx: Tx,
    session: SessionRecord,
    robot: RobotRecord,
    lease: Lease,
    question: {
      at: Date
      actorId: string
      kind: 'offer' | 'request'
      target: NamedCandidate | null
      me: NamedCandidate
      reason: string | undefined
    },
  ): Promise<void> {
    const { at, actorId, kind, target, me } = question
    await tx.db
      .updateTable('control_requests')
      .set({ closed_at: at })
      .where('session_id', '=', session.id)
      .where('closed_at', 'is', null)
      .where((eb) => eb.or([eb('from_id', '=', me.userId), eb('expires_at', '<=', at)]))
      .execute()
    const open = await openRequests(tx.db, session.id, at).execute()
    if (open.length >= MAX_OPEN_REQUESTS)
      throw conflict(
        'control_request_limit_reached',
        'Too many participants ask for control. Try again shortly.',
      )
    await joinControl(tx, session, me, at)
    if (kind === 'offer' && target) await joinControl(tx, session, target, at)
    const row = await tx.db
      .insertInto('control_requests')
      .values({
        id: randomUUID(),
        session_id: session.id,
        kind,
        from_id: me.userId,
        to_id: kind === 'offer' ? (target?.userId ?? null) : null,
        reason: question.reason ?? null,
        created_at: at,
        expires_at: new Date(at.getTime() + CONTROL_REQUEST_LIFETIME_MS),
        closed_at: null,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    // An offer without a receiver asks the owner's side for help; a request concerns who holds control.
    const receiver =
      kind === 'offer' ? target : lease.holder && { userId: lease.holder.user_id, kind: lease.holder.kind }
    await broadcastTransition(tx, session, robot, {
      type: 'control.requested',
      at,
      actorId,
      details: { ...loggedRequest(row) },
      notifyUserIds: receiver && receiver.kind !== 'policy' ? [receiver.userId] : [session.client_id],
      exceptActor: true,
    })
  }

  return {
    haltAhead,

    /**
     * Returns who controls the robot, and who wants to.
     * @throws 404 when the caller may not see the session
     */
    async get(caller: Caller, sessionId: string): Promise<ControlLease> {
      return await view(await queries.get(caller, sessionId))
    },

    /**
     * Offers, requests, takes, returns or revokes control.
     * @throws 404 when the caller may not see the session; 403 when the part of the caller does not include it; 409 when the session is
     *   not open, or the state of the lease does not allow it
     */
    async act(caller: Caller, sessionId: string, command: LeaseCommand): Promise<ControlLease> {
      requireKeyFor(caller, 'sessions.drive')
      // The request itself has done so, if this process knew its credential.
      const isHalted = ahead.has(aheadKey(sessionId, caller.userId))
      const release = isHalted ? undefined : haltAhead(caller, sessionId, command)
      try {
        const session = await queries.get(caller, sessionId)
        await takeTurn(
          { sessionId, userId: caller.userId },
          // Most refusals need no lock, so that many who reach for control at once do not wait for each other.
          () => judge(db, session, caller, command),
          () =>
            transact(async (tx) => {
              const robot = await lockRobot(tx, session.robot_id)
              const locked = await lockForLogEntry(tx, sessionId, OPEN)
              if (!locked)
                throw conflict(
                  'session_not_open',
                  'Control changes hands only in a session that is active or paused.',
                )
              await perform(tx, { ...locked, operator_name: session.operator_name }, robot, caller, command)
            }),
        )
        return await view(session)
      } finally {
        release?.() // does nothing once control has changed hands
      }
    },

    /**
     * Takes control from a holder whose connection is lost, in a transaction that has locked the robot: the last person before who is
     * connected gets it, or nobody, as the robot is set. Returns `unchanged` if the operator of the session holds it and nobody is there
     * to get it, and `outdated` if somebody else holds it by now.
     */
    async passOn(
      tx: Tx,
      sessionId: string,
      robot: RobotRecord,
      lost: { readonly epoch: number; readonly connectedUserIds: readonly string[] },
    ): Promise<'passed' | 'unchanged' | 'outdated'> {
      const session = await tx.db
        .selectFrom('sessions')
        .innerJoin('users', 'users.id', 'sessions.operator_id')
        .selectAll('sessions')
        .select('users.display_name as operator_name')
        .where('sessions.id', '=', sessionId)
        .executeTakeFirst()
      if (!session) return 'outdated'
      const lease = await readLease(tx.db, session)
      if (lease.epoch !== lost.epoch || lease.holder === null) return 'outdated'
      const known = await candidatesOf(tx.db, session, [session.operator_id, ...lease.earlierIds])
      const connected = new Set(lost.connectedUserIds)
      const heir =
        robot.control_loss === 'nobody'
          ? null
          : heirOf(stateOf(lease, session, known), (userId) => connected.has(userId))
      if (heir === null && lease.holder.user_id === session.operator_id) return 'unchanged'
      const locked = await lockForLogEntry(tx, sessionId, OPEN)
      if (!locked) return 'outdated'
      await transfer(tx, locked, robot, lease, {
        at: now(),
        holder: heir && (known.get(heir.userId) ?? null),
        reason: 'lost',
      })
      return 'passed'
    },
  }

  async function closeRequest(
    tx: Tx,
    session: SessionRecord,
    requestId: string,
    outcome: 'denied' | 'withdrawn',
    { at, actorId }: { at: Date; actorId: string },
  ): Promise<void> {
    const row = await tx.db
      .updateTable('control_requests')
      .set({ closed_at: at })
      .where('id', '=', requestId)
      .returningAll()
      .executeTakeFirstOrThrow()
    const { id: sessionId, event_seq: seq, status } = session
    const data = { status, actor_id: actorId, ...loggedRequest(row), outcome }
    await appendToLog(tx, { sessionId, seq, type: 'control.request_closed', at, data })
  }
}
export type ControlLeases = ReturnType<typeof createControlLeases>

type JudgedSession = LeasedSession & Parameters<typeof readLease>[1]

/** Returns the caller as a participant. Who acts for another organization is none as its member. */
function meOf(
  caller: Caller,
  session: LeasedSession,
  known: ReadonlyMap<string, NamedCandidate>,
): NamedCandidate | undefined {
  const me = known.get(caller.userId)
  return me?.asMember && caller.organization.id !== session.client_id ? undefined : me
}

function stateOf(
  { holder, earlierIds }: Lease & { readonly earlierIds: readonly string[] },
  session: LeasedSession,
  known: ReadonlyMap<string, NamedCandidate>,
): LeaseState {
  return {
    holder: holder && { userId: holder.user_id, kind: holder.kind },
    earlier: earlierIds.flatMap((id) => known.get(id) ?? []),
    operator: known.get(session.operator_id) ?? null,
  }
}

/**
 * Requires that a person who takes control is free for it: a supervisor controls fewer robots than the organization allows, and an
 * operator of the marketplace no other. The locks make concurrent changes of one person, and starts of sessions, wait for each other.
 */
async function requireFree(
  tx: Tx,
  session: SessionRecord,
  { userId, kind, asMember }: NamedCandidate,
): Promise<void> {
  if (kind === 'supervisor' || kind === 'owner') return await requireFreeSupervisor(tx, session, userId)
  if (asMember || userId === session.operator_id) return
  await tx.db.selectFrom('users').select('id').where('id', '=', userId).forUpdate().execute()
  if (!(await findGuest(tx.db, session, userId)))
    throw conflict('control_ineligible', 'You may not control this robot now. End your other session first.')
}

async function requireFreeSupervisor(tx: Tx, session: SessionRecord, userId: string): Promise<void> {
  await tx.db
    .selectFrom('organization_members')
    .select('user_id')
    .where('organization_id', '=', session.client_id)
    .where('user_id', '=', userId)
    .forNoKeyUpdate()
    .execute()
  const { rows } = await sql<{ is_free: boolean; allowed: number }>`
    select robots_per_supervisor as allowed, robots_per_supervisor > (
      select count(*) from control_intervals as held join sessions on sessions.id = held.session_id
      where held.user_id = ${userId} and held.ended_at is null and held.session_id <> ${session.id}
        and sessions.client_id = organizations.id and sessions.status in ('ACTIVE', 'PAUSED')) as is_free
    from organizations where id = ${session.client_id}`.execute(tx.db)
  if (rows[0]?.is_free === false)
    throw conflict(
      'supervisor_busy',
      `You control as many robots as your organization allows: ${rows[0].allowed}. Return one first.`,
    )
}
