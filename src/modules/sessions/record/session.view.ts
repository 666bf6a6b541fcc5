import type { ChatMessage, SessionLogEvent, StopClear } from '@wheelhouse/protocol'
import { type Selectable, sql } from 'kysely'
import { iso } from '../../../core/database/iso.ts'
import type { Tables } from '../../../core/database/tables.ts'
import { can, memberCan } from '../../../core/permissions/authorization.ts'
import { partsIn, type SessionViewer, seesAsClient } from '../../../core/permissions/session-part.ts'
import { BYTES_PER_MB } from '../../../core/units.ts'
import { percentile } from '../latency/latency-histogram.ts'
import { plannedEndOf } from './booking.service.ts'
import type { SessionDetail, SessionView } from './session-view.schema.ts'
import { clearableBy } from './stop-authority.ts'

const MS_PER_MINUTE = 60_000

/** The columns that list views need. Lists read only these. */
export const viewColumns = [
  'sessions.id',
  'sessions.status',
  'sessions.started_at',
  'sessions.ended_at',
  'sessions.client_charge_cents',
  'sessions.operator_earnings_cents',
  'sessions.rating',
  'sessions.episodes_collected',
  'sessions.data_collected_bytes',
  'sessions.created_at',
  'sessions.robot_id',
  'sessions.operator_id',
  'sessions.client_id',
  'sessions.own_operator',
] as const
/** What a guest earns in a session, in cents, null before its end, and the share. */
interface GuestTerms {
  readonly cents: number | null
  readonly share: number
}

/** Selects, by the ids of users, what those earn who held control of the robot in a session of another operator; null if nobody did. */
export const guestTerms = sql<Record<string, GuestTerms> | null>`(
  select jsonb_object_agg(guest.user_id, to_jsonb(guest) - 'user_id')
  from (
    select held.user_id, sum(held.operator_earnings_cents) as cents, max(held.operator_share_percent) as share
    from control_intervals as held
    where held.session_id = sessions.id and held.plan_id is not null and held.user_id <> sessions.operator_id
    group by held.user_id
  ) as guest)`

type WithoutTable<C extends string> = C extends `sessions.${infer Column}` ? Column : never

export type SessionRow = Selectable<Tables['sessions']> & {
  robot_name: string
  robot_type: string
  operator_name: string
}

/** A session with the columns of a list. */
export type ListedSession = Pick<
  SessionRow,
  WithoutTable<(typeof viewColumns)[number]> | 'robot_name' | 'robot_type' | 'operator_name'
> & {
  /** See `guestTerms`; in lists only of sessions that the caller neither operates nor pays for. */
  readonly guest_terms?: Record<string, GuestTerms> | null
}

/** A session with all columns, its robot's connection state, and the latency of its control frames if there were any. */
export type SessionDetailRow = SessionRow & {
  robot_connected: boolean
  stream_url: string
  /** The group of the robot. */
  group_id: string | null
  guests: string[]
  guest_terms: Record<string, GuestTerms> | null
  holder_id: string | null
  control_schema: Record<string, unknown> | null
  telemetry_schema: Record<string, unknown> | null
  stop_clear: StopClear
  latency_buckets: number[] | null
  latency_max_ms: number | null
  latency_frames: number | null
  latency_dropped: number | null
  budgeted_ms: number | null
  scaled_ms: number | null
  limited_ms: number | null
  picture_limited_ms: number | null
  min_speed_scale: number | null
  video_buckets: number[] | null
  video_max_ms: number | null
  video_dropped: number | null
}

type Viewer = SessionViewer

/** Returns the minutes from start to end, or to now, rounded up; null before the start. */
function durationMinutes(row: Pick<SessionRow, 'started_at' | 'ended_at'>, now: Date): number | null {
  if (row.started_at === null) return null
  return Math.ceil(((row.ended_at ?? now).getTime() - row.started_at.getTime()) / MS_PER_MINUTE)
}

/** Returns what the viewer earns as a guest in a session; undefined for others. */
const guestTermsOf = (
  { userId, organization }: Pick<SessionViewer, 'userId' | 'organization'>,
  { guest_terms }: Pick<ListedSession, 'guest_terms'>,
): GuestTerms | undefined => (organization.id === userId ? guest_terms?.[userId] : undefined)

/** Returns whether a viewer sees what a session costs: of the owner's members those who see costs. What is driven for a team is free. */
const seesCost = (viewer: Pick<SessionViewer, 'organization'>, row: ListedSession): boolean =>
  !seesAsClient(viewer, row) || row.own_operator || memberCan(viewer.organization, 'billing.read')

/** Returns the view of a session: who operates it, or did so as a guest, sees the own earnings, other viewers the collected data. */
export function sessionView(
  row: ListedSession,
  viewer: Pick<SessionViewer, 'userId' | 'organization'>,
  now: Date,
): SessionView {
  const shared = {
    id: row.id,
    status: row.status,
    started_at: iso(row.started_at),
    ended_at: iso(row.ended_at),
    duration_minutes: durationMinutes(row, now),
    client_charge_cents: seesCost(viewer, row) ? row.client_charge_cents : null,
    rating: row.rating,
    created_at: iso(row.created_at),
    robot_id: row.robot_id,
    robot_name: row.robot_name,
    robot_type: row.robot_type,
    operator_name: row.operator_name,
    ...(row.own_operator && { own_operator: true as const }),
  }
  // An owner who operates their own robot pays for the session and sees the client view.
  if (viewer.userId === row.operator_id && !seesAsClient(viewer, row)) {
    return { ...shared, operator_earnings_cents: row.operator_earnings_cents }
  }
  const asGuest = guestTermsOf(viewer, row)
  if (asGuest && !seesAsClient(viewer, row)) return { ...shared, operator_earnings_cents: asGuest.cents }
  return {
    ...shared,
    episodes_collected: row.episodes_collected,
    data_collected_mb: row.data_collected_bytes / BYTES_PER_MB,
  }
}

export function sessionDetail(row: SessionDetailRow, viewer: Viewer, now: Date): SessionDetail {
  const currentPauseMs = row.paused_at === null ? 0 : now.getTime() - row.paused_at.getTime()
  const view = sessionView(row, viewer, now)
  const details = {
    operator_id: row.operator_id,
    client_id: row.client_id,
    rate_cents_per_minute: seesCost(viewer, row) ? row.client_rate_cents_per_minute : null,
    billable_seconds: Math.ceil(billableMs(row, now) / 1_000),
    outage_seconds: Math.ceil(row.outage_ms / 1_000),
    robot_offline_seconds: Math.ceil(robotOfflineMs(row, now) / 1_000),
    scheduled_for: iso(row.scheduled_for),
    planned_minutes: row.planned_minutes,
    planned_end: iso(plannedEndOf(row)),
    paused_seconds: Math.floor((row.paused_ms + Math.max(0, currentPauseMs)) / 1_000),
    pause_reason: row.pause_reason,
    ends_at: iso(row.ends_at),
    rating_comment: row.rating_comment,
    end_reason: row.end_reason,
    stream_url: streamUrl(row, viewer),
    control: {
      connected: row.robot_connected,
      operator_joined: row.driven,
      operator_gone_since: iso(row.operator_gone_at),
      stop: stopView(row, viewer),
    },
    latency: latencyView(row),
    control_schema: row.control_schema,
    telemetry_schema: row.telemetry_schema,
  }
  if (!('operator_earnings_cents' in view)) return { ...view, ...details }
  return {
    ...view,
    ...details,
    operator_share_percent: guestTermsOf(viewer, row)?.share ?? row.operator_share_percent,
    earnings_pending_until: iso(row.earnings_held_until),
  }
}

/** Returns the video address of the robot. Hides it from the operator after the session has ended. */
function streamUrl(row: SessionDetailRow, viewer: Viewer): string | null {
  const isOpen = row.status === 'ACTIVE' || row.status === 'PAUSED'
  const mayViewStream = isOpen || row.operator_id !== viewer.userId || seesAsClient(viewer, row)
  if (!mayViewStream || row.stream_url === '') return null
  return partsIn(viewer, row, 'sessions.watch').length > 0 ? row.stream_url : null
}

/** Returns how long the robot was offline, in ACTIVE time and in pauses. */
function robotOfflineMs(row: SessionRow, now: Date): number {
  const { outage_ms: outage, offline_ms: offline, robot_lost_at: lostAt, ended_at: endedAt } = row
  const sinceLoss = lostAt === null ? 0 : (endedAt ?? now).getTime() - lostAt.getTime()
  return outage + offline + Math.max(0, sinceLoss)
}

/** Returns the ACTIVE time without outages, including the current ACTIVE period. */
function billableMs(row: SessionRow, now: Date): number {
  const { active_ms: counted, outage_ms: outage, active_since: since, active_until: until } = row
  const running = since !== null && until === null ? now.getTime() - since.getTime() : 0
  return Math.max(0, counted + Math.max(0, running) - outage)
}

/** Rounds to tenths: the buckets are coarser than 0.1 ms, so more digits would have no meaning. */
const roundToTenths = (ms: number | undefined) => (ms === undefined ? null : Math.round(ms * 10) / 10)

function latencyView(row: SessionDetailRow): SessionDetail['latency'] {
  const { latency_buckets: buckets, latency_max_ms: maxMs } = row
  if (buckets === null || maxMs === null) return null
  const p50 = percentile(buckets, 0.5, maxMs)
  return {
    p50_ms: roundToTenths(p50),
    p95_ms: roundToTenths(percentile(buckets, 0.95, maxMs)),
    max_ms: roundToTenths(p50 === undefined ? undefined : maxMs),
    frames: row.latency_frames ?? 0,
    dropped: row.latency_dropped ?? 0,
    speed: speedView(row),
    video: videoView(row),
  }
}

function videoView(row: SessionDetailRow): NonNullable<SessionDetail['latency']>['video'] {
  const { video_buckets: buckets, video_max_ms: maxMs } = row
  const dropped = row.video_dropped ?? 0
  if (maxMs === null || (buckets === null && dropped === 0)) return null
  const ageOf = (share: number) => roundToTenths(percentile(buckets ?? [], share, maxMs))
  return {
    p50_ms: ageOf(0.5),
    p95_ms: ageOf(0.95),
    max_ms: roundToTenths(buckets === null ? undefined : maxMs),
    dropped,
  }
}

const roundToHundredths = (share: number) => Math.round(share * 100) / 100

function speedView(row: SessionDetailRow): NonNullable<SessionDetail['latency']>['speed'] {
  const { budgeted_ms: budgetedMs, scaled_ms: scaledMs, min_speed_scale: minScale } = row
  if (budgetedMs === null || scaledMs === null || minScale === null || row.limited_ms === null) return null
  if (budgetedMs === 0 && row.limited_ms === 0) return null
  return {
    min_scale: budgetedMs === 0 ? null : roundToHundredths(minScale),
    mean_scale: budgetedMs === 0 ? null : roundToHundredths(scaledMs / budgetedMs),
    limited_seconds: Math.round(row.limited_ms / 1_000),
    picture_limited_seconds: Math.round((row.picture_limited_ms ?? 0) / 1_000),
  }
}

const mayManage = (viewer: Viewer, { client_id, group_id }: SessionDetailRow) =>
  can(viewer, 'sessions.manage', { organizationId: client_id, groupId: group_id })

function stopView(row: SessionDetailRow, viewer: Viewer): SessionDetail['control']['stop'] {
  if (row.stop_at === null || row.stop_reason === null) return null
  const clearable = clearableBy(row.stop_by_owner, row.stop_clear)
  return {
    reason: row.stop_reason,
    at: iso(row.stop_at),
    by: row.stop_by_id,
    by_role: row.stop_by_role,
    clearable_by: clearable,
    may_clear: clearable === 'anyone' || mayManage(viewer, row) || viewer.roles.includes('admin'),
    clear_requested_at: iso(row.stop_clear_requested_at),
  }
}

/** A message as views need it. */
export type MessageRow = Omit<Selectable<Tables['messages']>, 'client_message_id'>

export function messageView(row: MessageRow): ChatMessage {
  return {
    id: row.id,
    session_id: row.session_id,
    seq: row.seq,
    sender_id: row.sender_id,
    sender_name: row.sender_name,
    sender_role: row.sender_role,
    body: row.body,
    created_at: iso(row.created_at),
  }
}

/** A log entry; a chat entry with the columns of its message. */
type EntryRow = Selectable<Tables['session_events']> & {
  readonly message_id: string | null
} & { readonly [C in Exclude<keyof MessageRow, 'id' | 'session_id' | 'seq'>]: MessageRow[C] | null }

/** Returns the view of a log entry. A chat entry stores only a reference; its view contains the message. */
export function eventView(row: EntryRow): SessionLogEvent {
  const { message_id: id, ...message } = row
  return {
    session_id: row.session_id,
    seq: row.seq,
    type: row.type,
    data: id === null ? row.data : messageView({ ...(message as Omit<MessageRow, 'id'>), id }),
    at: iso(row.at),
  }
}
