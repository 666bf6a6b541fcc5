import { type Logger, pino } from 'pino'

export type Log = Logger

/** Header and field names whose values never reach a log line. */
const secretPaths = [
  'authorization',
  'cookie',
  'token',
  'robot_token',
  'key',
  '*.authorization',
  '*.cookie',
  '*.token',
  '*.robot_token',
  '*.key',
]

/** The process's logger: JSON lines, or readable ones on a terminal. */
export function createLog(options: { level: string; pretty: boolean }): Log {
  return pino({
    level: options.level,
    redact: { paths: secretPaths, censor: '[redacted]' },
    ...(options.pretty && {
      transport: {
        target: 'pino-pretty',
        options: { ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss.l', singleLine: true },
      },
    }),
  })
}
