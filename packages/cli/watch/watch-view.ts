import type { DriveStop, SpeedLimits } from '@wheelhouse/protocol'
import { clockOf, eventText } from './event-text.ts'
import type { WatchEvent } from './watch-event.ts'

/** Content of the watch screen. */
export interface WatchView {
  readonly sessionId: string
  readonly robotName: string
  readonly operatorName: string
  readonly status: string
  readonly hub: string
  readonly link: string
  readonly robotConnected: boolean | null
  /** The stop in the gateway's last state; undefined before the first state. */
  readonly stop: DriveStop | null | undefined
  /** Progress of a stop that the user has requested; null after the gateway or the log has reported it. */
  readonly stopRequest: 'pressed' | 'recorded' | null
  readonly telemetry: { readonly data: unknown; readonly atMs: number } | null
  /** Charge of the robot, 0 to 1. */
  readonly battery: number | null
  readonly limits: SpeedLimits | null
  readonly latency: Extract<WatchEvent, { type: 'latency' }> | null
  readonly typing: { readonly name: string; readonly untilMs: number } | null
  /** Lines of the log, oldest first. */
  readonly log: readonly { readonly time: string; readonly text: string; readonly alarm: boolean }[]
  readonly note: string
}

/** Larger than the number of lines on the tallest screen. */
const MAX_LOG = 500
const TYPING_MS = 4_000
const ALARMS: ReadonlySet<string> = new Set(['session.stopped', 'robot.lost'])

export function emptyView(sessionId: string): WatchView {
  return {
    sessionId,
    robotName: '',
    operatorName: '',
    status: '',
    hub: 'connecting',
    link: '–',
    robotConnected: null,
    stop: undefined,
    stopRequest: null,
    telemetry: null,
    latency: null,
    limits: null,
    battery: null,
    typing: null,
    log: [],
    note: '',
  }
}

/** Returns the view after an event that arrived at `nowMs` of a monotonic clock. */
export function reduceWatchView(view: WatchView, event: WatchEvent, nowMs: number): WatchView {
  switch (event.type) {
    case 'hub':
      return { ...view, hub: event.state === 'connected' ? 'connected' : 'disconnected, reconnecting' }
    case 'link':
      return { ...view, link: event.reason ? `${event.state} (${event.reason})` : event.state }
    case 'session':
      return { ...view, ...namesOf(event.session), status: event.session.status }
    case 'state':
      return {
        ...view,
        status: event.status,
        robotConnected: event.robot_connected,
        stop: event.stop,
        stopRequest: pendingStopRequest(view),
      }
    case 'telemetry':
      return { ...view, telemetry: { data: event.data, atMs: nowMs } }
    case 'latency':
      return { ...view, latency: event }
    case 'limits':
      return { ...view, limits: event }
    case 'typing':
      return { ...view, typing: { name: event.name, untilMs: nowMs + TYPING_MS } }
    case 'stop':
      return { ...view, stopRequest: event.state }
    case 'problem':
      return { ...view, note: event.message }
    case 'end':
      return { ...view, note: event.reason }
    case 'event':
      return appendEvent(view, event)
    case 'log':
      return appendRobotLog(view, event)
    case 'battery':
      return { ...view, battery: event.battery }
  }
}

function appendEvent(view: WatchView, event: Extract<WatchEvent, { type: 'event' }>): WatchView {
  const line = { time: clockOf(event.at), text: eventText(event), alarm: ALARMS.has(event.event) }
  const { status } = event.data
  return {
    ...view,
    ...(typeof status === 'string' && { status }),
    ...(event.event === 'chat.message' && { typing: null }),
    ...(event.event === 'session.stop_cleared' && { stopRequest: pendingStopRequest(view) }),
    log: [...view.log.slice(-(MAX_LOG - 1)), line],
  }
}

function appendRobotLog(
  view: WatchView,
  { level, message }: Extract<WatchEvent, { type: 'log' }>,
): WatchView {
  const line = { time: clockOf(Date.now()), text: `robot ${level}: ${message}`, alarm: level === 'error' }
  return { ...view, log: [...view.log.slice(-(MAX_LOG - 1)), line] }
}

/** Returns the progress after a report about stops: the report ends a recorded request, and no other. */
const pendingStopRequest = ({ stopRequest }: WatchView) => (stopRequest === 'recorded' ? null : stopRequest)

function namesOf(session: Readonly<Record<string, unknown>>) {
  const text = (value: unknown) => (typeof value === 'string' ? value : '')
  return { robotName: text(session.robot_name), operatorName: text(session.operator_name) }
}
