import type { ReportedLogLine } from '../../src/modules/robots/index.ts'

/** What a robot may log for long, and how many lines at once after a rest. */
const LINES_PER_SECOND = 20
const BURST = 100
/** Lines that wait for the database: of one robot, and of all; of more, the oldest of the robot that logs are dropped. */
export const MAX_WAITING_PER_ROBOT = 500
const MAX_WAITING = 20_000
/** In characters of their messages. */
const MAX_WAITING_LENGTH = 16 * 1024 * 1024
/** A robot that logs too fast gets a line about it this often. */
const NOTE_MS = 1_000
/** After so long without a line its allowance is full again, and nothing of a robot needs to be kept. */
const IDLE_MS = 10_000

/** The lines of one robot that wait, and how many are missing: before the oldest of them, and after the newest. */
interface RobotBacklog {
  lines: ReportedLogLine[]
  lost: number
  lostAtMs: number
  skipped: number
  skippedAtMs: number
  /** When to note what was skipped; in the gateway's clock, as the two below. */
  noteAtMs: number
  tokens: number
  refilledAtMs: number
}

const emptyBacklog = (nowMs: number): RobotBacklog => ({
  lines: [],
  lost: 0,
  lostAtMs: 0,
  skipped: 0,
  skippedAtMs: 0,
  noteAtMs: 0,
  tokens: BURST,
  refilledAtMs: nowMs,
})

/** Returns the line that is written in place of those that are missing. */
const droppedNotice = (robotId: string, dropped: number, atMs: number): ReportedLogLine => ({
  robotId,
  level: 'warn',
  message: dropped === 1 ? '1 log line dropped' : `${dropped} log lines dropped`,
  dropped,
  atMs,
})

/** Log lines on their way to the database, bounded. No line is missing without a line that says so. */
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

  /** Queues a line about those that were skipped; returns it. */
  function note(robotId: string, backlog: RobotBacklog): ReportedLogLine {
    const line = droppedNotice(robotId, backlog.skipped, backlog.skippedAtMs)
    backlog.skipped = 0
    push(backlog, line)
    return line
  }

  function takeToken(backlog: RobotBacklog, nowMs: number): boolean {
    const refill = ((nowMs - backlog.refilledAtMs) / 1_000) * LINES_PER_SECOND
    backlog.tokens = Math.min(BURST, backlog.tokens + refill)
    backlog.refilledAtMs = nowMs
    if (backlog.tokens < 1) return false
    backlog.tokens--
    return true
  }

  return {
    /** Lines that wait. */
    get size() {
      return size
    },

    /** Takes a line; returns what was queued of it: nothing, the line, or a line about those skipped before and it. */
    add(line: ReportedLogLine, nowMs: number): ReportedLogLine[] {
      const { robotId } = line
      const backlog = robots.get(robotId) ?? emptyBacklog(nowMs)
      robots.set(robotId, backlog)
      if (!takeToken(backlog, nowMs)) {
        if (backlog.skipped === 0) backlog.noteAtMs = nowMs + NOTE_MS
        backlog.skipped++
        backlog.skippedAtMs = line.atMs
        onDropped(1)
        return []
      }
      const noted = backlog.skipped > 0 && nowMs >= backlog.noteAtMs ? [note(robotId, backlog)] : []
      push(backlog, line)
      return [...noted, line]
    },

    /** Notes what was skipped and forgets robots that do not log; returns the lines it queued. */
    tick(nowMs: number): ReportedLogLine[] {
      const noted: ReportedLogLine[] = []
      for (const [robotId, backlog] of robots) {
        if (backlog.skipped > 0 && nowMs >= backlog.noteAtMs) noted.push(note(robotId, backlog))
        if (backlog.lost > 0 && backlog.lines.length === 0 && size < MAX_WAITING) {
          const { lost, lostAtMs } = backlog
          backlog.lost = 0
          push(backlog, droppedNotice(robotId, lost, lostAtMs))
        }
        const empty = backlog.lines.length === 0 && backlog.skipped === 0 && backlog.lost === 0
        if (empty && nowMs - backlog.refilledAtMs > IDLE_MS) robots.delete(robotId)
      }
      return noted
    },

    /** Takes out about so many lines, oldest first for each robot, with a line for those that are missing before. */
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

    /** Puts back what could not be persisted, in front of what has come since. */
    restore(lines: readonly ReportedLogLine[], nowMs: number): void {
      for (const [robotId, returned] of Map.groupBy(lines, (line) => line.robotId)) {
        const backlog = robots.get(robotId) ?? emptyBacklog(nowMs)
        robots.set(robotId, backlog)
        const between = backlog.lost > 0 ? [droppedNotice(robotId, backlog.lost, backlog.lostAtMs)] : []
        backlog.lost = 0
        const before = [...returned, ...between]
        backlog.lines.unshift(...before)
        size += before.length
        for (const line of before) length += line.message.length
        trim(backlog)
      }
    },
  }
}
export type LogBacklog = ReturnType<typeof createLogBacklog>
