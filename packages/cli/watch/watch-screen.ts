import { type DriveStop, reasonText, type SpeedLimits, speedLimitText } from '@wheelhouse/protocol'
import type { ScreenSize } from '../lib/screen.ts'
import { type Piece, styled } from '../lib/text.ts'
import { clockOf, statusPiece } from '../lib/views.ts'
import type { WatchEvent } from './session-watch.ts'
import { eventText, telemetryText } from './watch-text.ts'

/** Age from which the screen marks a sample as old. */
const STALE_MS = 2_000
const RECORDED = 'the stop is recorded'
const KEYS = 's or space STOP · c chat · q quit'

/** Returns the whole screen: the state, the newest log entries that fit, and the keys. */
export function watchScreen(
  view: WatchView,
  { nowMs, input, rows }: { nowMs: number; input: string | null } & Pick<ScreenSize, 'rows'>,
): Piece[][] {
  const head = [
    title(view),
    [
      'hub        ',
      highlightUnless(view.hub, 'connected'),
      '   gateway ',
      highlightUnless(view.link, 'online'),
    ],
    ['robot      ', robotPiece(view)],
    ['stop       ', stopPiece(view)],
    ['telemetry  ', ...telemetryPieces(view, nowMs)],
    ['latency    ', latencyText(view)],
    [],
  ]
  const foot = [[noteText(view, nowMs)], [promptPiece(input)]]
  const availableRows = Math.max(0, rows - head.length - foot.length)
  const log: Piece[][] = view.log
    .slice(Math.max(0, view.log.length - availableRows))
    .map(({ time, text, alarm }) => [styled('dim', `${time}  `), alarm ? styled('red', text) : text])
  const space = Array.from({ length: availableRows - log.length }, (): Piece[] => [])
  return [...head, ...log, ...space, ...foot]
}

function title({ robotName, operatorName, sessionId, status }: WatchView): Piece[] {
  return [
    styled('bold', robotName || 'session'),
    ` ${sessionId} `,
    statusPiece(status || '…'),
    ...(operatorName ? [`  driven by ${operatorName}`] : []),
  ]
}

const highlightUnless = (text: string, expected: string): Piece =>
  text === expected ? text : styled('yellow', text)

function robotPiece({ robotConnected, battery }: WatchView): Piece {
  if (robotConnected === null) return '–'
  if (!robotConnected) return styled('yellow', 'offline')
  return battery === null ? 'connected' : `connected, battery ${Math.round(battery * 100)} %`
}

function stopPiece({ stop, stopRequest }: WatchView): Piece {
  const ownStopText =
    stopRequest === 'pressed' ? 'REQUESTED, not confirmed yet' : stopRequest && !stop?.latched ? RECORDED : ''
  const knownStopText = stopText(stop)
  if (ownStopText === '' && !stop?.latched) return knownStopText
  return styled(['red', 'bold'], stop ? `${knownStopText} ${ownStopText}`.trimEnd() : ownStopText)
}

function stopText(stop: WatchView['stop']): string {
  if (!stop) return stop === null ? 'none' : '–'
  if (!stop.latched) return `${reasonText(stop.reason)} (until the operator drives)`
  return `LATCHED: ${reasonText(stop.reason)} (${stop.recorded ? RECORDED : 'not recorded yet'})`
}

function telemetryPieces({ telemetry }: WatchView, nowMs: number): Piece[] {
  if (!telemetry) return ['–']
  const ageMs = nowMs - telemetry.atMs
  const age = `${(ageMs / 1_000).toFixed(1)} s ago`
  return [ageMs > STALE_MS ? styled('yellow', `OLD, ${age}`) : age, `  ${telemetryText(telemetry.data)}`]
}

function latencyText({ latency, limits }: WatchView): string {
  const limit = limits && speedLimitText(limits)
  const ms = (value: number | null | undefined) => (value == null ? '–' : `${value.toFixed(1)} ms`)
  return `operator ${ms(latency?.operator_ms)}, robot ${ms(latency?.robot_ms)}, you ${ms(latency?.own_ms)} (round trips)${limit ? `. ${limit}` : ''}`
}

function noteText({ note, typing }: WatchView, nowMs: number): string {
  return typing && nowMs < typing.untilMs ? `${typing.name} is typing … ${note}` : note
}

function promptPiece(input: string | null): Piece {
  return input === null ? styled('dim', KEYS) : `chat: ${input}▏ (Enter sends, Esc cancels)`
}

/** Content of the watch screen. */
interface WatchView {
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
