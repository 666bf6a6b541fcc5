import { reasonText, speedLimitText } from '@wheelhouse/protocol'
import type { ScreenSize } from '../screen/live-screen.ts'
import { type Piece, styled } from '../text.ts'
import { statusPiece } from '../views.ts'
import { telemetryText } from './telemetry-text.ts'
import type { WatchView } from './watch-view.ts'

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
  return `operator ${ms(latency?.operator_ms)}, robot ${ms(latency?.robot_ms)}, you ${ms(latency?.own_ms)} (round trips)${limit ? `; ${limit}` : ''}`
}

function noteText({ note, typing }: WatchView, nowMs: number): string {
  return typing && nowMs < typing.untilMs ? `${typing.name} is typing … ${note}` : note
}

function promptPiece(input: string | null): Piece {
  return input === null ? styled('dim', KEYS) : `chat: ${input}▏ (Enter sends, Esc cancels)`
}
