import type { RobotLogLevel } from '@wheelhouse/protocol'
import type { LogEntry } from './config.ts'
import { at, itemsAt, numberAt, textAt } from './readings.ts'

const LEVELS: readonly RobotLogLevel[] = ['debug', 'info', 'warn', 'error']
/** The levels of ROS 1 (1 to 16) and of ROS 2 (10 to 50) differ everywhere. */
const logLevels: Readonly<Record<number, RobotLogLevel>> = {
  1: 'debug',
  2: 'info',
  4: 'warn',
  8: 'error',
  16: 'error',
  10: 'debug',
  20: 'info',
  30: 'warn',
  40: 'error',
  50: 'error',
}
/** OK, WARN, ERROR, STALE. */
const diagnosticLevels: readonly RobotLogLevel[] = ['info', 'warn', 'error', 'warn']
/** Components whose level is known; of more, the oldest is forgotten. */
const MAX_COMPONENTS = 512

export interface LogLine {
  readonly level: RobotLogLevel
  readonly message: string
}

/** Turns messages of /rosout and /diagnostics into lines of the robot's log. */
export class LogLines {
  readonly #components = new Map<string, RobotLogLevel>()

  /** Returns the lines of a message at the level of the entry or above. A component is reported when its level changes. */
  of(entry: LogEntry, message: unknown): LogLine[] {
    const lines =
      entry.type === 'diagnostic_msgs/DiagnosticArray' ? this.#diagnostics(message) : [rosout(message)]
    // A component that is well again follows one that was reported.
    return lines.filter(
      ({ level, recovered }) => recovered || LEVELS.indexOf(level) >= LEVELS.indexOf(entry.level),
    )
  }

  #diagnostics(message: unknown): (LogLine & { recovered?: boolean })[] {
    const lines: (LogLine & { recovered?: boolean })[] = []
    for (const status of Array.from(itemsAt(message, 'status')).slice(0, MAX_COMPONENTS)) {
      const name = textAt(status, 'name')
      const level = diagnosticLevels[byteAt(status, 'level')] ?? 'error'
      const before = this.#components.get(name) ?? 'info'
      this.#components.delete(name)
      this.#components.set(name, level)
      const [oldest] = this.#components.keys()
      if (this.#components.size > MAX_COMPONENTS && oldest !== undefined) this.#components.delete(oldest)
      if (level !== before)
        lines.push({ level, message: `${name}: ${textAt(status, 'message')}`, recovered: level === 'info' })
    }
    return lines
  }
}

const rosout = (message: unknown): LogLine & { recovered?: boolean } => ({
  level: logLevels[numberAt(message, 'level') ?? 0] ?? 'info',
  message: `${textAt(message, 'name')}: ${textAt(message, 'msg')}`,
})

/** Returns a byte of a message; some bridges send it as a text of one character. */
function byteAt(message: unknown, name: string): number {
  const value = at(message, name)
  return typeof value === 'string' ? value.charCodeAt(0) : (numberAt(message, name) ?? 0)
}
