import {
  reasonText,
  type SessionEventType,
  type SessionLogEvent,
  SessionEventType as Types,
} from '@wheelhouse/protocol'
import { timeOfDay } from '../ui/format.ts'

/** The participants that the log names. */
export interface SessionParticipants {
  readonly meId: string
  readonly operatorId?: string | undefined
  readonly operatorName?: string | undefined
  readonly clientId?: string | undefined
}

type Data = SessionLogEvent['data']

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value : undefined
/** Returns the time of day in the viewer's zone. */
const clock = (value: unknown): string => {
  const at = new Date(String(value))
  return Number.isNaN(at.getTime()) ? 'an unknown time' : timeOfDay(at)
}
const minutes = (value: unknown): string => `${value} ${value === 1 ? 'minute' : 'minutes'}`

/** Returns the actor for the start of a sentence. Without an id the platform acted. */
export function actorName(
  actorId: unknown,
  { meId, operatorId, operatorName, clientId }: SessionParticipants,
): string {
  const id = text(actorId)
  if (id === undefined) return 'The platform'
  if (id === meId) return 'You'
  if (id === operatorId) return operatorName ?? 'The operator'
  return id === clientId ? 'The owner' : 'An admin'
}

const reasonSuffix = (data: Data) => {
  const reason = reasonText(data.reason)
  return reason && `: ${reason}`
}

/** Returns the outage before an entry, which is neither billed nor paid. */
const outageSuffix = ({ outage_seconds: seconds }: Data) =>
  typeof seconds === 'number' && seconds > 0 ? ` (robot offline for ${seconds.toFixed(1)} s, not billed)` : ''

const texts: Record<SessionEventType, (actor: string, data: Data) => string> = {
  'session.scheduled': (actor) => `${actor} scheduled the session`,
  'session.started': (actor) => `${actor} started the session`,
  'session.paused': (actor, data) => `${actor} paused the session${reasonSuffix(data)}${outageSuffix(data)}`,
  'session.resumed': (actor) => `${actor} resumed the session`,
  'session.ended': (actor, data) => `${actor} ended the session${reasonSuffix(data)}${outageSuffix(data)}`,
  'session.cancelled': (actor, data) => `${actor} cancelled the session${reasonSuffix(data)}`,
  'session.stopped': (actor, data) => `${actor} stopped the robot${reasonSuffix(data)}${outageSuffix(data)}`,
  'session.stop_cleared': (actor) => `${actor} cleared the stop`,
  'session.stop_clear_requested': (actor, data) => `${actor} asked to clear the stop${reasonSuffix(data)}`,
  'session.pause_limit_soon': (_, { ends_at }) =>
    `The session ends at ${clock(ends_at)} unless the operator resumes it`,
  'session.planned_end_soon': (_, { planned_end }) =>
    `The session is planned to end at ${clock(planned_end)}`,
  'session.rated': (actor, { rating }) => `${actor} rated the session ${rating} of 5 stars`,
  'extension.requested': (actor, data) => `${actor} requested ${minutes(data.additional_minutes)} more`,
  'extension.approved': (actor, data) => `${actor} approved ${minutes(data.additional_minutes)} more`,
  'extension.declined': (actor, data) => `${actor} declined ${minutes(data.additional_minutes)} more`,
  'robot.lost': (_, data) => `The robot lost its connection${outageSuffix(data)}`,
  'robot.back': () => 'The robot reconnected',
  'operator.back': () => 'The operator reconnected',
  'chat.message': (_, { sender_name, body }) => `${text(sender_name) ?? 'Unknown user'} wrote: ${body}`,
}

/** Returns a log entry as a sentence. An unknown type becomes words. */
export function eventText(event: SessionLogEvent, participants: SessionParticipants): string {
  const type = Types.safeParse(event.type).data
  const actor = actorName(event.data.actor_id, participants)
  return type ? texts[type](actor, event.data) : event.type.replaceAll(/[._]/g, ' ')
}
