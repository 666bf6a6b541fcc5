import {
  ChatMessage,
  type HubAnswers,
  type HubCommandName,
  NotificationEvent,
  RobotStatusEvent,
  SessionLogEvent,
  SessionStatus,
  type WatchedSession,
} from '@wheelhouse/protocol'
import { HubError } from './errors.ts'

type Fields = Record<string, unknown>
type Readers = { readonly [N in HubCommandName]: (answer: Fields) => HubAnswers[N] }

const logEvents = SessionLogEvent.array()
const notificationEvents = NotificationEvent.array()
const robotEvents = RobotStatusEvent.array()

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null
}

function isSession(value: unknown): value is WatchedSession {
  return isFields(value) && typeof value.id === 'string' && SessionStatus.safeParse(value.status).success
}

function readSession(value: unknown): WatchedSession {
  if (!isSession(value)) throw new Error('not a session')
  return value
}

function readCount(value: unknown, what: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw new Error(`not ${what}`)
  return value
}

function readNotificationHead(value: unknown): string {
  if (typeof value !== 'string' || !/^\d{1,15}$/.test(value)) throw new Error('not a head')
  return value
}

const readers: Readers = {
  'session:watch': (answer) => ({
    session: readSession(answer.session),
    events: logEvents.parse(answer.events),
    head: readCount(answer.head, 'a head'),
  }),
  'session:unwatch': () => ({}),
  'chat:send': (answer) => ({ message: ChatMessage.parse(answer.message) }),
  'chat:typing': () => ({}),
  'session:action': (answer) => ({ session: readSession(answer.session) }),
  'notifications:since': (answer) => ({
    notifications: notificationEvents.parse(answer.notifications),
    head: readNotificationHead(answer.head),
    unread: answer.unread === undefined ? undefined : readCount(answer.unread, 'a count'),
  }),
  'robots:watch': (answer) => ({ robots: robotEvents.parse(answer.robots) }),
  ping: () => ({}),
}

/**
 * Reads the acknowledgement of a command.
 * @throws HubError for a refusal, Error for a malformed answer
 */
export function readAnswer<N extends HubCommandName>(name: N, answer: unknown): HubAnswers[N] {
  if (!isFields(answer)) throw new Error(`malformed answer to ${name}`)
  if (answer.ok !== true) {
    const status = typeof answer.status === 'number' ? answer.status : 500
    throw new HubError(status, typeof answer.error === 'string' ? answer.error : `${name} was refused`)
  }
  try {
    return readers[name](answer)
  } catch (cause) {
    throw new Error(`malformed answer to ${name}`, { cause })
  }
}
