import { reasonText } from '@wheelhouse/protocol'
import type { Output } from '../lib/output.ts'
import { styled } from '../lib/text.ts'
import { clockOf } from '../lib/views.ts'
import type { WatchEvent } from './session-watch.ts'
import { eventText, telemetryText } from './watch-text.ts'

/** Creates a handler that writes events line by line: JSON Lines with `--json`, else text. */
export function watchLines(out: Output, { samplesPerSecond }: { samplesPerSecond: number }) {
  let nextSampleMs = Number.NEGATIVE_INFINITY

  /** Returns whether to print an event. Limits the rate of telemetry samples. */
  const shouldPrint = (event: WatchEvent) => {
    if (event.type !== 'telemetry') return true
    const nowMs = performance.now()
    if (samplesPerSecond === 0 || nowMs < nextSampleMs) return false
    nextSampleMs = nowMs + 1_000 / samplesPerSecond
    return true
  }

  return (event: WatchEvent): void => {
    if (!shouldPrint(event)) return
    // A log entry has the platform's time, every other event the time of its arrival.
    if (out.json) return out.entry({ at: new Date().toISOString(), ...event })
    const line = lineOf(event)
    if (line === undefined) return
    const time = event.type === 'event' ? clockOf(event.at) : clockOf(Date.now())
    if (line.isDiagnostic) out.note(styled('dim', `${time}  ${line.text}`))
    else out.line(styled('dim', `${time}  `), line.text)
  }
}

interface Line {
  readonly text: string
  /** About the watch itself, not about the session. */
  readonly isDiagnostic?: true
}

function lineOf(event: WatchEvent): Line | undefined {
  switch (event.type) {
    case 'hub':
      return { text: `hub ${event.state}${event.reason ? `: ${event.reason}` : ''}`, isDiagnostic: true }
    case 'link':
      return { text: `gateway ${event.state}${event.reason ? `: ${event.reason}` : ''}`, isDiagnostic: true }
    case 'problem':
      return { text: event.message, isDiagnostic: true }
    case 'session':
      return { text: `session ${event.session.id} is ${event.session.status}` }
    case 'event':
      return { text: eventText(event) }
    case 'state':
      return { text: stateText(event) }
    case 'telemetry':
      return { text: `telemetry: ${telemetryText(event.data)}` }
    case 'log':
      return { text: `robot ${event.level}: ${event.message}` }
    case 'battery':
      return { text: `battery: ${Math.round(event.battery * 100)} %` }
    case 'stop':
      return { text: `stop ${event.state}` }
    case 'end':
      return { text: event.reason }
    default:
      return undefined
  }
}

function stateText({ status, robot_connected, stop }: Extract<WatchEvent, { type: 'state' }>): string {
  const stopped = stop ? `stop ${stop.latched ? 'LATCHED' : 'on'}: ${reasonText(stop.reason)}` : 'no stop'
  return `${status}, robot ${robot_connected ? 'connected' : 'offline'}, ${stopped}`
}
