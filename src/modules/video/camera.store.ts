import { MAX_CAMERAS } from '@wheelhouse/protocol'
import { sql } from 'kysely'
import type { Db } from '../../core/database/tables.ts'
import { uniqueViolation } from '../../core/errors/errors.ts'
import type { ViewerPermissions } from '../../core/events/media-topics.ts'
import { hasEnded, memberMay } from '../../core/permissions/authorization.ts'

/** A media role without renewals for this time is gone. */
const NODE_TIMEOUT_SECONDS = 6
/** Rows of ended media roles are removed after this time. */
const NODE_KEPT_SECONDS = 60
/** Attempts to set a position while other cameras of the robot get theirs. */
const MAX_ATTEMPTS = 5

/** How a published camera is doing. */
export interface StreamFigures {
  readonly robotId: string
  readonly camera: string
  readonly hasAudio: boolean
  readonly codec: string | null
  readonly bitsPerSecond: number
  readonly framesPerSecond: number
  readonly latencyMs: number | null
}

/** A publisher, by what may end its permission. */
export interface PublisherIdentity {
  readonly robotId: string
  readonly tokenVersion: number
}

/** A session that is ACTIVE or PAUSED. */
export interface CameraSession {
  readonly robotId: string
  readonly sessionId: string
  /** Whether its cameras are recorded. */
  readonly isRecorded: boolean
}

/** A camera at an address that the owner entered, in a session that is recorded. */
interface RecordedStream {
  readonly robotId: string
  readonly sessionId: string
  readonly url: string
}

const nodeIsAlive = sql<boolean>`exists (
  select from media_nodes n
  where n.id = cameras.node_id and n.seen_at > now() - make_interval(secs => ${NODE_TIMEOUT_SECONDS})
)`

/** Returns the name of a robot's first camera that is live, in SQL; null without one. Requires `robots`. */
export const firstLiveCamera = sql<string | null>`(
  select cameras.name from cameras
  where cameras.robot_id = robots.id and ${nodeIsAlive}
  order by cameras.position limit 1
)`

/** Changes of a camera; absent fields stay. */
interface CameraChange {
  readonly label?: string | null | undefined
  readonly position?: number | undefined
}

/** Repeats a statement that set a position which another one took at the same time. */
async function retryOnTakenPosition<T>(statement: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await statement()
    } catch (cause) {
      if (attempt === MAX_ATTEMPTS || uniqueViolation(cause) !== 'one_camera_per_position') throw cause
    }
  }
}

/** The condition that a viewer may watch a robot as a member of its organization. */
const mayWatchRobot = memberMay('sessions.watch', {
  user: sql.ref('viewer.user_id'),
  organization: sql.ref('r.owner_id'),
  group: sql.ref('r.group_id'),
})

/** Stores cameras and the media roles that forward them. */
export function createCameraStore({ db }: { db: Db }) {
  return {
    /** Renews the row of a media role, and removes those of roles that are gone. */
    async renewNode(nodeId: string): Promise<void> {
      await sql`
        insert into media_nodes (id) values (${nodeId}) on conflict (id) do update set seen_at = now()`.execute(
        db,
      )
      await sql`
        delete from media_nodes where seen_at < now() - make_interval(secs => ${NODE_KEPT_SECONDS})`.execute(
        db,
      )
    },

    async removeNode(nodeId: string): Promise<void> {
      await sql`delete from media_nodes where id = ${nodeId}`.execute(db)
    },

    /** Returns the media role with the fewest cameras; undefined if none is running. */
    async leastBusyNode(): Promise<string | undefined> {
      const { rows } = await sql<{ id: string }>`
        select n.id from media_nodes n
        where n.seen_at > now() - make_interval(secs => ${NODE_TIMEOUT_SECONDS})
        order by (select count(*) from cameras c where c.node_id = n.id), n.id
        limit 1`.execute(db)
      return rows[0]?.id
    },

    /** Returns whether a media role is running. */
    async isNodeAlive(nodeId: string): Promise<boolean> {
      const { rows } = await sql`
        select from media_nodes n
        where n.id = ${nodeId} and n.seen_at > now() - make_interval(secs => ${NODE_TIMEOUT_SECONDS})`.execute(
        db,
      )
      return rows.length > 0
    },

    /** Returns the media role that forwards a camera now; undefined while it is not published. */
    async nodeOf(robotId: string, camera: string): Promise<string | undefined> {
      const row = await db
        .selectFrom('cameras')
        .select('node_id')
        .where('robot_id', '=', robotId)
        .where('name', '=', camera)
        .where(nodeIsAlive)
        .executeTakeFirst()
      return row?.node_id ?? undefined
    },

    /** Returns the robot of a session that is ACTIVE or PAUSED. */
    async robotOfOpenSession(sessionId: string): Promise<string | undefined> {
      const session = await db
        .selectFrom('sessions')
        .select('robot_id')
        .where('id', '=', sessionId)
        .where('status', 'in', ['ACTIVE', 'PAUSED'])
        .executeTakeFirst()
      return session?.robot_id
    },

    /** Returns the open sessions of robots, and whether their cameras are recorded. */
    async openSessionsOf(robotIds: readonly string[]): Promise<CameraSession[]> {
      const { rows } = await sql<CameraSession>`
        select s.robot_id as "robotId", s.id as "sessionId", r.recording = 'video' as "isRecorded"
        from sessions s join robots r on r.id = s.robot_id
        where s.robot_id = any(${robotIds}::uuid[]) and s.status in ('ACTIVE', 'PAUSED')`.execute(db)
      return rows
    },

    /** Returns the addresses of cameras that are recorded: those that owners entered for robots in open sessions. */
    async recordedStreams(): Promise<RecordedStream[]> {
      const { rows } = await sql<RecordedStream>`
        select s.robot_id as "robotId", s.id as "sessionId", r.stream_url as url
        from sessions s join robots r on r.id = s.robot_id
        where s.status in ('ACTIVE', 'PAUSED') and r.recording = 'video' and r.stream_url like 'http%'
        order by s.id`.execute(db)
      return rows
    },

    /** Returns the media roles that are running. */
    async liveNodes(): Promise<{ id: string }[]> {
      const { rows } = await sql<{ id: string }>`
        select id from media_nodes
        where seen_at > now() - make_interval(secs => ${NODE_TIMEOUT_SECONDS})`.execute(db)
      return rows
    },

    /** Adds a camera of a robot unless it exists. Returns false if the robot has as many cameras as it may have. */
    addCamera: (robotId: string, camera: string): Promise<boolean> =>
      retryOnTakenPosition(async () => {
        const { rows } = await sql<{ known: boolean }>`
          with added as (
            insert into cameras (robot_id, name, position)
            select ${robotId}, ${camera}, free.position
            from generate_series(0, ${MAX_CAMERAS - 1}) as free (position)
            where not exists (select from cameras c where c.robot_id = ${robotId} and c.position = free.position)
            order by free.position limit 1
            -- Not "do nothing": a row that another offer has just added is not visible below.
            on conflict (robot_id, name) do update set name = excluded.name
            returning name
          )
          select exists (select from added) or exists (
            select from cameras where robot_id = ${robotId} and name = ${camera}
          ) as known`.execute(db)
        return rows[0]?.known === true
      }),

    /**
     * Changes the label or the position of a camera; another one at that position gets the position before. Returns false if the
     * camera does not exist.
     */
    changeCamera: (robotId: string, camera: string, { label, position }: CameraChange): Promise<boolean> =>
      retryOnTakenPosition(async () => {
        const { rows } = await sql`
          with changed as (
            select name, position from cameras where robot_id = ${robotId} and name = ${camera} for update
          )
          update cameras set
            label = case
              when cameras.name = changed.name and ${label !== undefined} then ${label ?? null}
              else cameras.label end,
            position = case
              when ${position ?? null}::int is null then cameras.position
              when cameras.name = changed.name then ${position ?? null}::int
              else changed.position end
          from changed
          where cameras.robot_id = ${robotId}
            and (cameras.name = changed.name or cameras.position = ${position ?? null}::int)
          returning cameras.name`.execute(db)
        return rows.length > 0
      }),

    /** Removes a camera unless it is live. */
    async removeCamera(robotId: string, camera: string): Promise<'removed' | 'live' | 'unknown'> {
      const { rows } = await sql<{ live: boolean }>`
        with found as (
          select name, ${nodeIsAlive} as live from cameras
          where robot_id = ${robotId} and name = ${camera} for update
        ), removed as (
          delete from cameras using found
          where cameras.robot_id = ${robotId} and cameras.name = found.name and not found.live
        )
        select live from found`.execute(db)
      if (rows[0] === undefined) return 'unknown'
      return rows[0].live ? 'live' : 'removed'
    },

    /** Removes a camera that has never sent, so that it takes no place. */
    async removeUnused(robotId: string, camera: string): Promise<void> {
      await sql`
        delete from cameras
        where robot_id = ${robotId} and name = ${camera} and node_id is null and codec is null and label is null`.execute(
        db,
      )
    },

    /** Records the cameras that a media role forwards, with their newest figures, and that it forwards no other one. */
    async saveStreams(nodeId: string, streams: readonly StreamFigures[]): Promise<void> {
      await sql`
        with s as (
          select * from unnest(
            ${streams.map(({ robotId }) => robotId)}::uuid[],
            ${streams.map(({ camera }) => camera)}::text[],
            ${streams.map(({ hasAudio }) => hasAudio)}::boolean[],
            ${streams.map(({ codec }) => codec)}::text[],
            ${streams.map(({ bitsPerSecond }) => bitsPerSecond)}::int[],
            ${streams.map(({ framesPerSecond }) => framesPerSecond)}::float8[],
            ${streams.map(({ latencyMs }) => latencyMs)}::int[]
          ) as s (robot_id, name, has_audio, codec, bits_per_second, frames_per_second, latency_ms)
        ), ended as (
          update cameras set node_id = null
          where node_id = ${nodeId}
            and not exists (select from s where s.robot_id = cameras.robot_id and s.name = cameras.name)
        )
        update cameras set node_id = ${nodeId}, has_audio = s.has_audio, codec = s.codec,
          bits_per_second = s.bits_per_second, frames_per_second = s.frames_per_second, latency_ms = s.latency_ms
        from s
        where cameras.robot_id = s.robot_id and cameras.name = s.name`.execute(db)
    },

    /** Returns the indexes of viewers whose permission has ended: their permissions changed, or the session is over. */
    async endedViewers(viewers: readonly (ViewerPermissions & { robotId: string })[]): Promise<number[]> {
      const { rows } = await sql<{ ordinal: number }>`
        select viewer.ordinal::int
        from unnest(
          ${viewers.map(({ userId }) => userId)}::uuid[],
          ${viewers.map(({ permissionsVersion }) => permissionsVersion)}::bigint[],
          ${viewers.map(({ credentialId }) => credentialId)}::uuid[],
          ${viewers.map(({ sessionId }) => sessionId)}::uuid[],
          ${viewers.map(({ robotId }) => robotId)}::uuid[]
        ) with ordinality as viewer (user_id, version, credential_id, session_id, robot_id, ordinal)
        left join users u on u.id = viewer.user_id
        where u.permissions_version is distinct from viewer.version
          or viewer.credential_id is not null and ${hasEnded(sql.ref('viewer.credential_id'))}
          or viewer.session_id is not null and not exists (
            select from sessions s
            where s.id = viewer.session_id and s.robot_id = viewer.robot_id and s.status in ('ACTIVE', 'PAUSED')
          )
          or viewer.session_id is null and not exists (
            select from robots r
            where r.id = viewer.robot_id and r.deleted_at is null and ${mayWatchRobot}
          )`.execute(db)
      return rows.map(({ ordinal }) => ordinal - 1)
    },

    /** Returns the indexes of publishers whose token is no longer valid. */
    async endedPublishers(publishers: readonly PublisherIdentity[]): Promise<number[]> {
      const { rows } = await sql<{ ordinal: number }>`
        select publisher.ordinal::int
        from unnest(
          ${publishers.map(({ robotId }) => robotId)}::uuid[],
          ${publishers.map(({ tokenVersion }) => tokenVersion)}::int[]
        ) with ordinality as publisher (robot_id, version, ordinal)
        where not exists (
          select from robots r
          where r.id = publisher.robot_id and r.token_version = publisher.version and r.deleted_at is null
        )`.execute(db)
      return rows.map(({ ordinal }) => ordinal - 1)
    },

    /** Returns the cameras of a robot in their order. `is_live` is false while a camera is not published. */
    async camerasOf(robotId: string) {
      return await db
        .selectFrom('cameras')
        .select(['name', 'label', 'position', 'has_audio', 'codec', 'bits_per_second'])
        .select(['frames_per_second', 'latency_ms', nodeIsAlive.as('is_live')])
        .where('robot_id', '=', robotId)
        .orderBy('position')
        .execute()
    },
  }
}
export type CameraStore = ReturnType<typeof createCameraStore>
