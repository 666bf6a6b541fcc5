import { TokenBucket } from '../../src/core/concurrency/token-bucket.ts'
import type { ReportedLogLine } from '../../src/modules/robots/index.ts'

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
