import { ChatMessage, eventTitle, reasonText } from '@wheelhouse/protocol'
import { z } from 'zod'
import { clockOf } from '../lib/views.ts'
import type { WatchEvent } from './session-watch.ts'

type LogEntry = Extract<WatchEvent, { type: 'event' }>

const Details = z.looseObject({
  reason: z.string().optional().catch(undefined),
  additional_minutes: z.number().optional().catch(undefined),
  planned_minutes: z.number().optional().catch(undefined),
  planned_end: z.string().optional().catch(undefined),
  ends_at: z.string().optional().catch(undefined),
  outage_seconds: z.number().optional().catch(undefined),
  offline_seconds: z.number().optional().catch(undefined),
  rating: z.number().optional().catch(undefined),
  comment: z.string().nullish().catch(undefined),
  success: z.boolean().nullish().catch(undefined),
  task: z.string().nullish().catch(undefined),
})

const EVENT_TEXTS: Readonly<Record<string, string>> = {
  'session.scheduled': 'session scheduled',
  'session.started': 'session started',
  'session.paused': 'paused',
  'session.resumed': 'resumed',
  'session.ended': 'session ended',
  'session.cancelled': 'session cancelled',
  'session.stopped': 'REMOTE STOP',
  'session.stop_cleared': 'stop cleared',
  'session.stop_clear_requested': 'the operator asks to clear the stop',
  'session.pause_limit_soon': 'long pause, the session ends soon',
  'session.planned_end_soon': 'planned end is near',
  'session.rated': 'rated',
  'extension.requested': 'more time requested',
  'extension.approved': 'more time granted',
  'extension.declined': 'more time declined',
  'robot.lost': 'robot lost',
  'robot.back': 'robot is back',
  'operator.back': 'operator is back',
  'control.transferred': 'control changed hands',
  'control.requested': 'someone asks about control',
  'control.request_closed': 'the question about control is settled',
  'recording.started': 'recording started',
  'recording.paused': 'NOT RECORDED',
  'recording.resumed': 'recording continues',
  'recording.stopped': 'recording stopped',
  'episode.started': 'episode started',
  'episode.ended': 'episode ended',
  'episode.discarded': 'episode discarded',
}

/** Returns an entry of the log as one line, not escaped. */
export function eventText({ event, data }: Pick<LogEntry, 'event' | 'data'>): string {
  if (event === 'chat.message') {
    const message = ChatMessage.safeParse(data).data
    return message ? `${message.sender_name} (${message.sender_role}): ${message.body}` : 'a message'
  }
  const {
    reason,
    additional_minutes,
    planned_minutes,
    planned_end,
    ends_at,
    outage_seconds,
    offline_seconds,
    rating,
    comment,
    success,
    task,
  } = Details.parse(data)
  const more = [
    additional_minutes === undefined ? undefined : `${additional_minutes} minutes`,
    planned_minutes === undefined ? undefined : `planned ${planned_minutes} minutes`,
    planned_end === undefined ? undefined : `until ${clockOf(planned_end)}`,
    ends_at === undefined ? undefined : `at ${clockOf(ends_at)}`,
    outage_seconds === undefined || outage_seconds <= 0 ? undefined : `${outage_seconds} s not billed`,
    offline_seconds === undefined ? undefined : `after ${offline_seconds} s`,
    rating === undefined ? undefined : `${rating} of 5`,
    comment ?? undefined,
    typeof success === 'boolean' ? (success ? 'success' : 'failure') : undefined,
    task ?? undefined,
    reasonText(reason),
  ].filter((part) => part !== undefined && part !== '')
  return [EVENT_TEXTS[event] ?? eventTitle(event), ...(more.length > 0 ? [more.join(', ')] : [])].join(': ')
}

const Pose = z.looseObject({ x_m: z.number(), y_m: z.number(), heading_rad: z.number() })
const DEGREES = 180 / Math.PI
/** More fields do not fit on a line. */
const MAX_FIELDS = 6
const MAX_TEXT = 40

/** Returns a telemetry sample as one line, with a pose first, not escaped. */
export function telemetryText(data: unknown): string {
  if (typeof data !== 'object' || data === null) return short(data)
  const { pose, ...rest } = data as Record<string, unknown>
  const known = poseText(pose)
  const fields = Object.entries(known ? rest : data)
    .filter(([, value]) => typeof value !== 'object')
    .slice(0, MAX_FIELDS)
    .map(([name, value]) => `${name} ${short(value)}`)
  return [...(known ? [known] : []), ...fields].join(', ')
}

/** Returns a pose as text; undefined for any other value. */
export function poseText(value: unknown): string | undefined {
  const pose = Pose.safeParse(value).data
  if (!pose) return undefined
  const [x, y, degrees] = [pose.x_m.toFixed(2), pose.y_m.toFixed(2), (pose.heading_rad * DEGREES).toFixed(0)]
  return `x ${x} m, y ${y} m, ${degrees}°`
}

function short(value: unknown): string {
  const text = typeof value === 'number' ? String(Math.round(value * 1_000) / 1_000) : String(value)
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
}
