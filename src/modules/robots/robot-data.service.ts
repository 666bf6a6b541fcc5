import { sql } from 'kysely'
import { iso } from '../../core/database/iso.ts'
import type { Db } from '../../core/database/tables.ts'
import { notFound } from '../../core/errors/errors.ts'
import { ownedBy, type Scope } from '../../core/permissions/authorization.ts'
import type { RobotData } from './robot-data.schema.ts'
import { HEALTH_HOURS, SAMPLE_MINUTES } from './robot-health.schema.ts'

const DATABASE = 'the database of the platform'
const MEMBERS = 'members who may see the robot'
const PARTICIPANTS = `the operator of the session, and ${MEMBERS}`

interface Measured {
  readonly recording: 'off' | 'control' | 'video'
  readonly recording_days: number | null
  readonly telemetry_declared: boolean
  readonly control_declared: boolean
  readonly cameras: number
  readonly video_bits: string
  readonly log_lines: string
  readonly samples: string
  readonly sessions: string
  readonly session_seconds: number
  readonly recordings: string
  readonly recording_bytes: string
  readonly episodes: string
  readonly episode_bytes: string
  readonly audit_entries: string
}

const number = (value: string | number) => Number(value).toLocaleString('en')
const megabytes = (value: string) => `${(Number(value) / 1_000_000).toLocaleString('en')} MB`

/** Describes what the platform collects about a robot, with what it measures of it. */
export function createRobotData(deps: { db: Db; now: () => Date; logDays: number }) {
  const { db, now, logDays } = deps

  async function measure(scope: Scope, robotId: string): Promise<Measured> {
    const { rows } = await sql<Measured>`
      select robots.recording, robots.recording_days, robots.session_seconds,
        coalesce(robots.telemetry_schema, model.telemetry_schema) is not null as telemetry_declared,
        coalesce(robots.control_schema, model.control_schema) is not null as control_declared,
        (select count(*)::int from cameras where robot_id = robots.id) as cameras,
        (select coalesce(sum(bits_per_second), 0) from cameras where robot_id = robots.id) as video_bits,
        (select count(*) from robot_logs where robot_id = robots.id
          and at > ${now()}::timestamptz - interval '1 day') as log_lines,
        (select count(*) from robot_health_samples where robot_id = robots.id) as samples,
        (select count(*) from sessions where robot_id = robots.id and client_id = robots.owner_id) as sessions,
        stored.recordings, stored.recording_bytes, episodes.episodes, episodes.episode_bytes,
        (select count(*) from audit_log where subject_type = 'robot' and subject_id = robots.id::text) as audit_entries
      from robots left join robot_models as model on model.robot_type = robots.robot_type
        cross join lateral (select count(*) as recordings, coalesce(sum(size_bytes), 0) as recording_bytes
          from recordings where robot_id = robots.id and client_id = robots.owner_id) stored
        cross join lateral (select coalesce(sum(episode_count), 0) as episodes, coalesce(sum(size_bytes), 0) as episode_bytes
          from datasets where robot_id = robots.id and client_id = robots.owner_id) episodes
      where robots.id = ${robotId} and robots.deleted_at is null and ${ownedBy(scope)}`.execute(db)
    if (!rows[0]) throw notFound('Robot')
    return rows[0]
  }

  return {
    /** Returns the catalogue of the data of a robot. @throws 404 when it does not exist or belongs to another organization */
    async of(scope: Scope, robotId: string): Promise<RobotData> {
      const found = await measure(scope, robotId)
      const robot = `GET /api/client/robots/${robotId}`
      const { recording } = found
      const kept =
        found.recording_days === null
          ? 'as long as the platform keeps recordings by default, or until you delete them'
          : `${found.recording_days} days, or until you delete them`
      const live = recording === 'off' ? 'not stored' : `not stored, except in recordings: ${kept}`
      const declared = (is: boolean) =>
        is ? 'JSON, as its schema declares' : 'JSON, whose fields are not declared'
      return {
        robot_id: robotId,
        at: iso(now()),
        data: [
          {
            kind: 'telemetry',
            contents:
              'State that the robot sends in a session: poses, velocities, its battery and what else its program sends',
            rate: 'as its program sends it, in sessions and while it is connected; live data is not measured',
            format: declared(found.telemetry_declared),
            retention: live,
            location: 'the gateway, in memory',
            visible_to: PARTICIPANTS,
            access: [
              'POST /api/sessions/{id}/ticket with {"part": "watch"}',
              'POST /api/sessions/{id}/foxglove',
            ],
          },
          {
            kind: 'control',
            contents: 'Commands that operators send to the robot',
            rate: 'as the operator sends them, in sessions; live data is not measured',
            format: declared(found.control_declared),
            retention: live,
            location: 'the gateway, in memory',
            visible_to: PARTICIPANTS,
            access: ['GET /api/recordings', 'POST /api/sessions/{id}/foxglove'],
          },
          {
            kind: 'video',
            contents: 'Pictures and sound of its cameras',
            rate: `${found.cameras} cameras; ${number(found.video_bits)} bits per second now`,
            format: 'WebRTC (RTP)',
            retention: recording === 'video' ? `not stored, except in recordings: ${kept}` : 'not stored',
            location: 'the media servers, in memory',
            visible_to: PARTICIPANTS,
            access: ['GET /api/sessions/{id}/cameras'],
          },
          {
            kind: 'log',
            contents: 'Lines that the program of the robot writes',
            rate: `${number(found.log_lines)} lines in the last 24 hours`,
            format: 'JSON: level, text, time',
            retention: `${logDays} days`,
            location: DATABASE,
            visible_to: `${MEMBERS}, and organizations that you grant it`,
            access: [`${robot}/logs`],
          },
          {
            kind: 'health',
            contents: 'When it was connected, the charge of its battery, stops and lost connections',
            rate: `every ${SAMPLE_MINUTES} minutes while it is connected; ${number(found.samples)} samples are stored`,
            format: 'JSON',
            retention: `${HEALTH_HOURS} hours; stops as long as the record of their session`,
            location: DATABASE,
            visible_to: `${MEMBERS}, and organizations that you grant it`,
            access: [`${robot}/health`],
          },
          {
            kind: 'sessions',
            contents: 'Who drove it and when, what happened, the chat, latency, and what it cost',
            rate: `${number(found.sessions)} sessions with ${number(found.session_seconds)} seconds`,
            format: 'JSON or CSV',
            retention: 'ten years, as tax law demands',
            location: DATABASE,
            visible_to: `the operator of each session, ${MEMBERS}, and administrators of the platform`,
            access: [
              'GET /api/client/sessions',
              'POST /api/session-exports',
              'GET /api/sessions/{id}/events',
            ],
          },
          {
            kind: 'recordings',
            contents:
              recording === 'off'
                ? 'Nothing is recorded now'
                : `Commands, telemetry, events and chat of sessions${recording === 'video' ? ', with video' : ''}`,
            rate: `${number(found.recordings)} recordings with ${megabytes(found.recording_bytes)}`,
            format: 'MCAP',
            retention: kept,
            location: 'the object storage of the platform',
            visible_to: `the operator of each session, ${MEMBERS}, and organizations that you grant it`,
            access: [`GET /api/recordings?robot_id=${robotId}`, 'GET /api/recordings/{id}/file'],
          },
          {
            kind: 'episodes',
            contents: 'Parts of sessions that are examples of a task',
            rate: `${number(found.episodes)} episodes with ${megabytes(found.episode_bytes)}`,
            format: 'JSON; LeRobot datasets',
            retention: 'as long as the robot',
            location: `${DATABASE}; exports in its object storage`,
            visible_to: `${MEMBERS}, and organizations that you grant it`,
            access: ['GET /api/client/datasets', 'POST /api/client/datasets/exports'],
          },
          {
            kind: 'audit',
            contents: 'Changes of its settings, tokens and pairing codes, stops, and grants of its data',
            rate: `${number(found.audit_entries)} entries`,
            format: 'JSON',
            retention: '90 days to five years, by kind',
            location: DATABASE,
            visible_to: 'owners and admins of the organization, and administrators of the platform',
            access: ['GET /api/organizations/{id}/audit'],
          },
        ],
      }
    },
  }
}
export type RobotDataService = ReturnType<typeof createRobotData>
