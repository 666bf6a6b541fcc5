import { randomUUID } from 'node:crypto'
import { KEPT_SECONDS, type OrganizationAction } from '@wheelhouse/protocol'
import { type Selectable, sql } from 'kysely'
import type { CoreServices } from '../../core/core-services.ts'
import { iso } from '../../core/database/iso.ts'
import type { Tables } from '../../core/database/tables.ts'
import { conflict, notFound } from '../../core/errors/errors.ts'
import { handleEach } from '../../core/errors/handle-each.ts'
import type { Tx } from '../../core/events/transactor.ts'
import { controlParts, partsIn, type SessionViewer } from '../../core/permissions/session-part.ts'
import type { MarkEpisode, MarkedEpisode, SessionEpisodes } from './dataset.schema.ts'
import { episodeView } from './dataset.view.ts'
import { createMissingDatasets, lockDatasets } from './episode.store.ts'
import { notExportable } from './exportable-episodes.ts'

/** Episodes of a session in a list. */
const LIST_LIMIT = 1_000
const PER_RUN = 100

/** Writes an entry of a session's log, if the session is open. The sessions module implements it. */
export type AppendEpisodeNote = (
  tx: Tx,
  sessionId: string,
  note: {
    readonly type: 'episode.started' | 'episode.ended' | 'episode.discarded'
    readonly at: Date
    readonly actorId?: string
    readonly details: Readonly<Record<string, unknown>>
  },
) => Promise<void>

type StoredEpisode = Selectable<Tables['episodes']>

interface MarkedSession {
  readonly id: string
  readonly robot_id: string
}

/** Marks episodes in open sessions. One episode runs at a time in a session. */
export function createEpisodeMarks(
  deps: Pick<CoreServices, 'db' | 'transact' | 'now' | 'log'> & { appendNote: AppendEpisodeNote },
) {
  const { db, transact, now, log, appendNote } = deps

  /** @throws 404 when the session does not exist, or the caller has no part in it. */
  async function sessionOf(caller: SessionViewer, sessionId: string, action: OrganizationAction) {
    const session = await db
      .selectFrom('sessions')
      .innerJoin('robots', 'robots.id', 'sessions.robot_id')
      .select(['sessions.id', 'sessions.robot_id', 'sessions.status', 'sessions.operator_id'])
      .select(['sessions.client_id', 'sessions.own_operator', 'robots.group_id', ...controlParts])
      .where('sessions.id', '=', sessionId)
      .executeTakeFirst()
    if (!session || partsIn(caller, session, action).length === 0) throw notFound('Session')
    return session
  }

  async function requireOpen(tx: Tx, session: MarkedSession): Promise<void> {
    const open = await tx.db
      .selectFrom('sessions')
      .select('id')
      .where('id', '=', session.id)
      .where('status', 'in', ['ACTIVE', 'PAUSED'])
      .forKeyShare()
      .executeTakeFirst()
    if (!open)
      throw conflict('session_not_open', 'The session is not open. Mark episodes in an open session.')
  }

  async function start(tx: Tx, session: MarkedSession, actorId: string | null, task: string | null) {
    const at = now()
    await requireOpen(tx, session)
    const started = await tx.db
      .insertInto('running_episodes')
      .values({
        session_id: session.id,
        robot_id: session.robot_id,
        started_at: at,
        task,
        started_by: actorId,
      })
      .onConflict((known) => known.column('session_id').doNothing())
      .returning('session_id')
      .executeTakeFirst()
    if (!started) throw conflict('episode_running', 'An episode runs already. End or discard it first.')
    await note(tx, session.id, 'episode.started', { at, actorId, details: { task } })
  }

  /** Ends the running episode. Returns it; undefined for a discarded one. */
  async function end(
    tx: Tx,
    session: MarkedSession,
    by: {
      actorId: string | null
      success: boolean | null
      task: string | undefined
      discards: boolean
      at: Date
    },
  ): Promise<StoredEpisode | undefined> {
    const { actorId, success, discards, at } = by
    // Before the episode: the order in which all transactions lock datasets and sessions.
    if (!discards) {
      await createMissingDatasets(tx, [session.robot_id], at)
      await lockDatasets(tx, [session.robot_id])
    }
    const running = await tx.db
      .deleteFrom('running_episodes')
      .where('session_id', '=', session.id)
      .returningAll()
      .executeTakeFirst()
    if (!running) throw conflict('no_episode_running', 'No episode runs. Start one first.')
    const task = by.task ?? running.task
    if (discards) {
      await note(tx, session.id, 'episode.discarded', { at, actorId, details: { task } })
      return undefined
    }
    const episode = await insertEpisode(tx, session, {
      startedAt: running.started_at,
      at,
      task,
      success,
      actorId,
    })
    const details = { task, success, episode_id: episode.id, started_at: iso(episode.started_at) }
    await note(tx, session.id, 'episode.ended', { at, actorId, details })
    return episode
  }

  /** Makes an episode of the last seconds, as far as the present recording has them. */
  async function keep(
    tx: Tx,
    session: MarkedSession,
    { actorId, task, seconds }: { actorId: string; task: string | null; seconds: number },
  ): Promise<StoredEpisode> {
    const at = now()
    await createMissingDatasets(tx, [session.robot_id], at)
    await lockDatasets(tx, [session.robot_id])
    await requireOpen(tx, session)
    const { rows } = await sql<{ since: Date | null }>`
      select min(streams.opened_at) as since
      from recordings join recording_streams streams on streams.recording_id = recordings.id
      where recordings.session_id = ${session.id} and streams.source = 'gateway' and streams.origin_id in (
        select origin_id from recording_streams open
        where open.recording_id = recordings.id and open.source = 'gateway' and open.closed_at is null)`.execute(
      tx.db,
    )
    const since = rows[0]?.since
    if (!since)
      throw conflict(
        'session_not_recorded',
        'The session is not recorded at this moment. Turn on the recording of its robot first.',
      )
    const startedAt = new Date(Math.max(at.getTime() - seconds * 1_000, since.getTime()))
    const episode = await insertEpisode(tx, session, { startedAt, at, task, success: null, actorId })
    const details = { task, success: null, episode_id: episode.id, started_at: iso(episode.started_at) }
    await note(tx, session.id, 'episode.ended', { at, actorId, details })
    return episode
  }

  async function note(
    tx: Tx,
    sessionId: string,
    type: 'episode.started' | 'episode.ended' | 'episode.discarded',
    { actorId, ...rest }: { at: Date; actorId: string | null; details: Record<string, unknown> },
  ): Promise<void> {
    await appendNote(tx, sessionId, { type, ...rest, ...(actorId !== null && { actorId }) })
  }

  async function runningOf(sessionId: string): Promise<MarkedEpisode['running']> {
    const row = await db
      .selectFrom('running_episodes')
      .select(['started_at', 'task'])
      .where('session_id', '=', sessionId)
      .executeTakeFirst()
    return row ? { started_at: iso(row.started_at), task: row.task } : null
  }

  const selectEpisodes = () =>
    db.selectFrom('episodes').selectAll().select(notExportable.as('not_exportable'))

  return {
    /** Marks an episode. @throws 409 when the state of the session does not allow it */
    async mark(
      caller: SessionViewer,
      sessionId: string,
      { action, task, seconds = KEPT_SECONDS }: MarkEpisode,
    ): Promise<MarkedEpisode> {
      const session = await sessionOf(caller, sessionId, 'sessions.manage')
      const ended = await transact(async (tx) => {
        if (action === 'start') {
          await start(tx, session, caller.userId, task ?? null)
          return undefined
        }
        if (action === 'keep')
          return await keep(tx, session, { actorId: caller.userId, task: task ?? null, seconds })
        const success = action === 'success'
        const by = { actorId: caller.userId, success, task, discards: action === 'discard', at: now() }
        return await end(tx, session, by)
      })
      const episode = ended && (await selectEpisodes().where('id', '=', ended.id).executeTakeFirst())
      return { running: await runningOf(sessionId), episode: episode ? episodeView(episode) : null }
    },

    /** Returns the episodes of a session, oldest first, and the running one. */
    async list(caller: SessionViewer, sessionId: string): Promise<SessionEpisodes> {
      await sessionOf(caller, sessionId, 'sessions.read')
      const rows = await selectEpisodes()
        .where('session_id', '=', sessionId)
        .orderBy('started_at')
        .orderBy('id')
        .limit(LIST_LIMIT)
        .execute()
      return { running: await runningOf(sessionId), episodes: rows.map(episodeView) }
    },

    /** Ends the episodes of sessions that are over, without a result. Call it about once a second. */
    async endAbandoned(): Promise<void> {
      const rows = await db
        .selectFrom('running_episodes')
        .innerJoin('sessions', 'sessions.id', 'running_episodes.session_id')
        .select(['sessions.id', 'sessions.robot_id', 'sessions.ended_at'])
        .where('sessions.status', 'in', ['COMPLETED', 'CANCELLED'])
        .limit(PER_RUN)
        .execute()
      const endEpisode = ({ ended_at, ...session }: (typeof rows)[0]) =>
        transact(async (tx) => {
          const by = { actorId: null, success: null, task: undefined, discards: false, at: ended_at ?? now() }
          await end(tx, session, by)
        }).catch(ignoreConflict) // another process has ended it
      await handleEach(rows, endEpisode, { log, failure: 'episode of an ended session not ended' })
    },
  }
}
export type EpisodeMarks = ReturnType<typeof createEpisodeMarks>

function ignoreConflict(cause: unknown): void {
  if (!(cause instanceof Error && 'code' in cause && cause.code === 'no_episode_running')) throw cause
}

/** Inserts an episode, and counts it in its dataset and its session. */
async function insertEpisode(
  tx: Tx,
  { id: sessionId, robot_id }: MarkedSession,
  episode: {
    startedAt: Date
    at: Date
    task: string | null
    success: boolean | null
    actorId: string | null
  },
): Promise<StoredEpisode> {
  const { startedAt, at, task, success, actorId } = episode
  const id = randomUUID()
  const endedAt = at < startedAt ? startedAt : at // a clock was set back
  const { rows } = await sql<StoredEpisode>`
    with inserted as (
      insert into episodes (id, dataset_id, robot_id, session_id, episode_id, started_at, ended_at, size_bytes, success, uri,
        created_at, source, task, recording_id, marked_by)
      select ${id}, d.id, ${robot_id}, ${sessionId}, ${`platform-${id}`}, ${startedAt}::timestamptz, ${endedAt}::timestamptz, 0,
        ${success}::boolean, null, ${at}::timestamptz, 'platform', ${task}::text,
        (select r.id from recordings r where r.session_id = ${sessionId}), ${actorId}::uuid
      from datasets d join robots on robots.id = d.robot_id and robots.owner_id = d.client_id
      where d.robot_id = ${robot_id}
      returning *
    ), session_counted as (
      update sessions set episodes_collected = episodes_collected + 1
      where id = ${sessionId} and exists (select from inserted)
    ), dataset_counted as (
      update datasets d set episode_count = d.episode_count + 1, updated_at = greatest(d.updated_at, ${at}::timestamptz)
      from inserted i where d.id = i.dataset_id
    )
    select * from inserted`.execute(tx.db)
  const [row] = rows
  if (!row) throw notFound('Dataset')
  return row
}
