import { type DestinationStream, type Logger, pino } from 'pino'

export type Log = Logger

/** Headers and fields whose values never reach a log line, at any depth. */
const SECRET_NAMES = new Set([
  'authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
  'api_key',
  'apikey',
  'token',
  'robot_token',
  'ticket',
  'key',
  'secret',
  'password',
  'client_secret',
  'id_token',
  'access_token',
  'refresh_token',
  'code',
])
/**
 * Matches credentials in any text, such as an error message: API keys, tokens of links to recordings, and JWTs. A match begins only
 * at a word boundary, so that a long text of prefixes takes no longer than any other.
 */
const SECRET_TEXT =
  /svc_live_\w+|(?<=\/(?:shared\/recordings|replay)\/)[\w-]{20,}|(?<![\w-])(?=[\w-]*eyJ)[\w-]+\.[\w-]+\.[\w-]+/g
const CENSORED = '[redacted]'
const MAX_DEPTH = 8

/** Returns a copy of a log object without its credentials. Deeply nested parts are cut. */
function censor(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return value.replace(SECRET_TEXT, CENSORED)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  if (depth === MAX_DEPTH) return '[deeper]'
  if (value instanceof Error) return censorError(value, depth)
  if (Array.isArray(value)) return value.map((entry) => censor(entry, depth + 1))
  return censorFields(value, depth)
}

function censorFields(fields: object, depth: number): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      SECRET_NAMES.has(name.toLowerCase()) && value != null ? CENSORED : censor(value, depth + 1),
    ]),
  )
}

/** Returns whether a `code` may be logged. An error's names the failure (`ECONNREFUSED`); any other may be an authorization code. */
function censorError(error: Error, depth: number): unknown {
  const { code, ...fields } = pino.stdSerializers.err(error)
  return { ...censorFields(fields, depth), ...(code !== undefined && { code }) }
}

/** Creates the process's logger: JSON lines, or readable lines on a terminal. */
export function createLog(options: { level: string; pretty: boolean; to?: DestinationStream }): Log {
  const settings = {
    level: options.level,
    // The redaction step has already serialized the objects.
    serializers: { err: (error: unknown) => error },
    formatters: { log: (line: object) => censor(line) as Record<string, unknown> },
    ...(options.pretty && {
      transport: {
        target: 'pino-pretty',
        options: { ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss.l', singleLine: true },
      },
    }),
  }
  return options.to ? pino(settings, options.to) : pino(settings)
}
