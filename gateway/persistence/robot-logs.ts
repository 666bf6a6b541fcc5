import { LOG_MESSAGE_MAX, RobotLogLevel } from '@wheelhouse/protocol'
import pTimeout from 'p-timeout'
import type { Log } from '../../src/core/log.ts'
import type { ReportedLogLine, RobotLogStore } from '../../src/modules/robots/index.ts'
import type { RobotConnection } from '../connections/robot-connection.ts'
import type { GatewayClock } from '../gateway-clock.ts'
import { isDataError } from './episodes.ts'
import { createLogBacklog } from './robot-log-backlog.ts'

const TICK_MS = 250
const LINES_PER_STATEMENT = 1_000
const RETRY_MS = 1_000
/** How long the end of a gateway waits until the last lines are stored. */
const FLUSH_LIMIT_MS = 3_000

/** A log line of a robot, ready to be sent and persisted. */
export interface LogLine {
  readonly level: RobotLogLevel
  readonly message: string
}

/** Level names of other logging systems, such as ROS. */
const aliases: Readonly<Record<string, RobotLogLevel>> = {
  warning: 'warn',
  fatal: 'error',
  critical: 'error',
}

/**
 * Reads a log frame: an unknown level becomes `info`, and a message that is too long is truncated. Returns undefined if
 * there is no message.
 */
export function logLineOf(value: object): LogLine | undefined {
  const { level, message } = value as { level?: unknown; message?: unknown }
  if (typeof message !== 'string') return undefined
  const name = typeof level === 'string' ? level.toLowerCase() : ''
  const known = RobotLogLevel.safeParse(Object.hasOwn(aliases, name) ? aliases[name] : name)
  return {
    level: known.success ? known.data : 'info',
    // PostgreSQL accepts neither NUL nor a lone surrogate.
    message: message.slice(0, LOG_MESSAGE_MAX).replaceAll('\0', '\u{fffd}').toWellFormed(),
  }
}

/**
 * Sends the logs of robots to the participants of their sessions at once, and persists them in batches. The backlog is
 * bounded: a line takes the place of dropped lines and contains their number.
 */
export function createRobotLogs(deps: {
  store: RobotLogStore
  log: Log
  connectionOf: (robotId: string) => RobotConnection | undefined
  unixMs: GatewayClock['unixMs']
  clockMs: () => number
}) {
  const { store, log, connectionOf, unixMs, clockMs } = deps
  const counts = { logLines: 0, logLinesDropped: 0 }
  const backlog = createLogBacklog({
    onDropped: (lines) => {
      counts.logLinesDropped += lines
    },
  })
  let flushing: Promise<boolean> | undefined
  let failing = false
  let stopped = false
  let retryAtMs = 0

  function broadcast(connection: RobotConnection | undefined, line: ReportedLogLine, nowMs: number): void {
    if (!connection?.controlSession) return
    const { level, message, dropped, atMs: at } = line
    const frame = JSON.stringify({ type: 'log', level, message, dropped, at })
    for (const participant of connection.controlSession.participants())
      participant.sendIfFlowing(frame, nowMs)
  }

  /** Persists one batch; returns whether it succeeded. */
  async function write(): Promise<boolean> {
    const lines = backlog.take(LINES_PER_STATEMENT)
    try {
      await store.append(lines)
      counts.logLines += lines.length
      failing = false
      return true
    } catch (cause) {
      if (isDataError(cause)) {
        // A retry would fail the same way. The lines were cleaned before, so this is a defect.
        log.error(
          { err: cause, lines: lines.length },
          'the database refused log lines of robots; they are discarded',
        )
        counts.logLinesDropped += lines.length
        return true
      }
      backlog.restore(lines, clockMs())
      retryAtMs = clockMs() + RETRY_MS
      if (!failing) log.warn({ err: cause }, 'failed to write log lines of robots; retrying')
      failing = true
      return false
    }
  }

  function begin(): Promise<boolean> {
    flushing ??= write().finally(() => {
      flushing = undefined
    })
    return flushing
  }

  async function drain(): Promise<void> {
    await flushing
    while (backlog.size > 0 && !stopped) {
      if (!(await begin())) throw new Error(`${backlog.size} log lines of robots are not persisted`)
    }
  }

  return {
    counts: counts as Readonly<typeof counts>,
    tickMs: TICK_MS,

    /** Sends and queues a line, unless its robot logs too fast. */
    accept(connection: RobotConnection, line: LogLine, nowMs: number): void {
      const reported = { robotId: connection.robotId, ...line, dropped: 0, atMs: unixMs(nowMs) }
      for (const queued of backlog.add(reported, nowMs)) broadcast(connection, queued, nowMs)
    },

    /** Begins to persist the backlog. Call it every `tickMs`. Never throws. */
    tick(): void {
      const nowMs = clockMs()
      for (const queued of backlog.tick(nowMs)) broadcast(connectionOf(queued.robotId), queued, nowMs)
      if (backlog.size > 0 && nowMs >= retryAtMs) void begin()
    },

    /** Persists the whole backlog. Rejects if the database is unavailable or takes too long. */
    flush: (): Promise<void> =>
      pTimeout(drain(), {
        milliseconds: FLUSH_LIMIT_MS,
        message: 'log lines of robots were not written in time',
      }),

    /** Discards the backlog. */
    stop(): void {
      stopped = true
    },
  }
}
export type RobotLogQueue = ReturnType<typeof createRobotLogs>
