import { LOG_MESSAGE_MAX, RobotLogLevel } from '@wheelhouse/protocol'
import pTimeout from 'p-timeout'
import { TokenBucket } from '../../src/core/concurrency/token-bucket.ts'
import type { Log } from '../../src/core/log.ts'
import type { ReportedLogLine, RobotLogStore } from '../../src/modules/robots/index.ts'
import type { GatewayClock } from '../base/clock.ts'
import type { RobotMember } from '../control/control-session.ts'
import { isDataError } from './episodes.ts'

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
  connectionOf: (robotId: string) => RobotMember | undefined
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

  function broadcast(connection: RobotMember | undefined, line: ReportedLogLine, nowMs: number): void {
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
    accept(connection: RobotMember, line: LogLine, nowMs: number): void {
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

/** The rate limit of one robot: 20 lines a second, 100 at once. */
const LINE_LIMIT = { burst: 100, refillMs: 5_000 }
/** Lines of one robot that may wait for the database. Beyond it its oldest lines are dropped. */
export const MAX_WAITING_PER_ROBOT = 500
/** Lines of all robots that may wait for the database. Beyond it the oldest lines of the robot are dropped. */
const MAX_WAITING = 20_000
/** The same limit in characters of the messages. */
const MAX_WAITING_LENGTH = 16 * 1024 * 1024
/** How often a robot that logs too fast gets a line with the number of its dropped lines. */
const NOTICE_MS = 1_000
/** After this time without a line the bucket of a robot is full, so that the robot can be forgotten. */
const IDLE_MS = 10_000

/** The waiting lines of one robot. */
interface RobotBacklog {
  lines: ReportedLogLine[]
  /** Dropped lines before the oldest waiting one. */
  lost: number
  lostAtMs: number
  /** Lines after the newest waiting one that the rate limit refused. */
  skipped: number
  skippedAtMs: number
  /** When to queue a line about the skipped ones, in the gateway's clock. */
  noticeAtMs: number
  readonly tokenBucket: TokenBucket
}

const emptyBacklog = (nowMs: number): RobotBacklog => ({
  lines: [],
  lost: 0,
  lostAtMs: 0,
  skipped: 0,
  skippedAtMs: 0,
  noticeAtMs: 0,
  tokenBucket: new TokenBucket(LINE_LIMIT, nowMs),
})

/** Returns the line that takes the place of dropped lines. */
const droppedNotice = (robotId: string, dropped: number, atMs: number): ReportedLogLine => ({
  robotId,
  level: 'warn',
  message: dropped === 1 ? '1 log line dropped' : `${dropped} log lines dropped`,
  dropped,
  atMs,
})

/** Queues log lines for the database, up to a limit. A line with their number takes the place of dropped lines. */
export function createLogBacklog({ onDropped }: { onDropped: (lines: number) => void }) {
  const robots = new Map<string, RobotBacklog>()
  let size = 0
  let length = 0

  function dropOldest(backlog: RobotBacklog): void {
    const oldest = backlog.lines.shift()
    if (!oldest) return
    size--
    length -= oldest.message.length
    backlog.lost += oldest.dropped || 1
    backlog.lostAtMs = oldest.atMs
    if (oldest.dropped === 0) onDropped(1)
  }

  function trim(backlog: RobotBacklog): void {
    while (backlog.lines.length > MAX_WAITING_PER_ROBOT) dropOldest(backlog)
    while (backlog.lines.length > 0 && (size > MAX_WAITING || length > MAX_WAITING_LENGTH))
      dropOldest(backlog)
  }

  function push(backlog: RobotBacklog, line: ReportedLogLine): void {
    backlog.lines.push(line)
    size++
    length += line.message.length
    trim(backlog)
  }

  /** Queues a line with the number of skipped lines; returns it. */
  function queueNotice(robotId: string, backlog: RobotBacklog): ReportedLogLine {
    const line = droppedNotice(robotId, backlog.skipped, backlog.skippedAtMs)
    backlog.skipped = 0
    push(backlog, line)
    return line
  }

  return {
    /** The number of waiting lines. */
    get size() {
      return size
    },

    /** Queues a line unless its robot logs too fast. Returns the queued lines: a notice of skipped ones may precede it. */
    add(line: ReportedLogLine, nowMs: number): ReportedLogLine[] {
      const { robotId } = line
      const backlog = robots.get(robotId) ?? emptyBacklog(nowMs)
      robots.set(robotId, backlog)
      if (backlog.tokenBucket.take(nowMs) > 0) {
        if (backlog.skipped === 0) backlog.noticeAtMs = nowMs + NOTICE_MS
        backlog.skipped++
        backlog.skippedAtMs = line.atMs
        onDropped(1)
        return []
      }
      const notices =
        backlog.skipped > 0 && nowMs >= backlog.noticeAtMs ? [queueNotice(robotId, backlog)] : []
      push(backlog, line)
      return [...notices, line]
    },

    /** Queues notices of skipped lines and forgets idle robots; returns the queued notices. */
    tick(nowMs: number): ReportedLogLine[] {
      const notices: ReportedLogLine[] = []
      for (const [robotId, backlog] of robots) {
        if (backlog.skipped > 0 && nowMs >= backlog.noticeAtMs) notices.push(queueNotice(robotId, backlog))
        if (backlog.lost > 0 && backlog.lines.length === 0 && size < MAX_WAITING) {
          const { lost, lostAtMs } = backlog
          backlog.lost = 0
          push(backlog, droppedNotice(robotId, lost, lostAtMs))
        }
        const empty = backlog.lines.length === 0 && backlog.skipped === 0 && backlog.lost === 0
        if (empty && nowMs - backlog.tokenBucket.takenAtMs > IDLE_MS) robots.delete(robotId)
      }
      return notices
    },

    /** Removes and returns about `limit` lines, for each robot the oldest first, after a notice of dropped ones. */
    take(limit: number): ReportedLogLine[] {
      const taken: ReportedLogLine[] = []
      for (const [robotId, backlog] of robots) {
        if (taken.length >= limit) break
        if (backlog.lines.length === 0) continue
        if (backlog.lost > 0) taken.push(droppedNotice(robotId, backlog.lost, backlog.lostAtMs))
        backlog.lost = 0
        const lines = backlog.lines.splice(0, limit - taken.length)
        for (const line of lines) length -= line.message.length
        size -= lines.length
        taken.push(...lines)
      }
      return taken
    },

    /** Puts lines back that could not be persisted, in front of newer ones. */
    restore(lines: readonly ReportedLogLine[], nowMs: number): void {
      for (const [robotId, returned] of Map.groupBy(lines, (line) => line.robotId)) {
        const backlog = robots.get(robotId) ?? emptyBacklog(nowMs)
        robots.set(robotId, backlog)
        const notice = backlog.lost > 0 ? [droppedNotice(robotId, backlog.lost, backlog.lostAtMs)] : []
        backlog.lost = 0
        const before = [...returned, ...notice]
        backlog.lines.unshift(...before)
        size += before.length
        for (const line of before) length += line.message.length
        trim(backlog)
      }
    },
  }
}
