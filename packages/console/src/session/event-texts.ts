import {
  reasonText,
  type SessionEventType,
  type SessionLogEvent,
  SessionEventType as Types,
} from '@wheelhouse/protocol'
import { timeOfDay } from '../ui/format.ts'

/** Who takes part, so that the log can name them. */
export interface SessionParticipants {
  readonly meId: string
  readonly operatorId?: string | undefined
  readonly operatorName?: string | undefined
  readonly clientId?: string | undefined
}

type Data = SessionLogEvent['data']

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value : undefined
/** The time of day by the reader's clock. */
const clock = (value: unknown): string => {
  const at = new Date(String(value))
  return Number.isNaN(at.getTime()) ? 'that time' : timeOfDay(at)
}
const minutes = (value: unknown): string => `${value} ${value === 1 ? 'minute' : 'minutes'}`

/** Who did it, for the beginning of a sentence. Without a name it was the platform itself. */
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

const because = (data: Data) => {
  const why = reasonText(data.reason)
  return why && `: ${why}`
}

/** What of the time before an entry is neither billed nor earned. */
const outage = ({ outage_seconds: seconds }: Data) =>
  typeof seconds === 'number' && seconds > 0
    ? `; the robot was silent for ${seconds.toFixed(1)} s, not billed`
    : ''

const texts: Record<SessionEventType, (who: string, data: Data) => string> = {
  'session.scheduled': (who) => `${who} scheduled the session`,
  'session.started': (who) => `${who} started the session`,
  'session.paused': (who, data) => `${who} paused the session${because(data)}${outage(data)}`,
  'session.resumed': (who) => `${who} resumed the session`,
  'session.ended': (who, data) => `${who} ended the session${because(data)}${outage(data)}`,
  'session.cancelled': (who, data) => `${who} cancelled the session${because(data)}`,
  'session.stopped': (who, data) => `${who} pressed stop${because(data)}${outage(data)}`,
  'session.stop_cleared': (who) => `${who} cleared the stop`,
  'session.stop_clear_requested': (who, data) => `${who} asked to clear the stop${because(data)}`,
  'session.pause_limit_soon': (_, { ends_at }) =>
    `The session ends at ${clock(ends_at)} unless it is resumed`,
  'session.planned_end_soon': (_, { planned_end }) =>
    `The session is planned to end at ${clock(planned_end)}`,
  'session.rated': (who, { rating }) => `${who} gave ${rating} of 5 stars`,
  'extension.requested': (who, data) => `${who} asked for ${minutes(data.additional_minutes)} more`,
  'extension.approved': (who, data) => `${who} granted ${minutes(data.additional_minutes)} more`,
  'extension.declined': (who, data) => `${who} declined ${minutes(data.additional_minutes)} more`,
  'robot.lost': (_, data) => `The robot lost its connection${outage(data)}`,
  'robot.back': () => 'The robot is back',
  'chat.message': (_, { sender_name, body }) => `${text(sender_name) ?? 'Somebody'} wrote: ${body}`,
}

/** An entry of a session's log as a sentence. Kinds that are new here are named as they come. */
export function eventText(event: SessionLogEvent, participants: SessionParticipants): string {
  const type = Types.safeParse(event.type).data
  const who = actorName(event.data.actor_id, participants)
  return type ? texts[type](who, event.data) : event.type.replaceAll(/[._]/g, ' ')
}
