import { z } from 'zod'

// The forms of values in the environment.

export const list = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
)
export const HIGHEST_PORT = 65_535
export const port = z
  .string()
  .regex(/^\d+$/, 'must be a port number')
  .transform(Number)
  .pipe(z.number().max(HIGHEST_PORT))
/** Node timers with a longer delay fire at once: 24 days. */
const LONGEST_TIMER_MS = 2 ** 31 - 1
export const DAY_MS = 86_400_000
export const milliseconds = (minimum: number) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number of milliseconds')
    .transform(Number)
    .pipe(z.number().min(minimum).max(LONGEST_TIMER_MS))
export const connections = z
  .string()
  .regex(/^\d{1,4}$/, 'must be a whole number of connections')
  .transform(Number)
  .pipe(z.number().min(2))
/** Requests per minute. 0 means no limit. */
export const rate = z
  .string()
  .regex(/^\d{1,7}$/, 'must be a whole number of requests per minute')
  .transform(Number)
/** The retention of records. */
export const days = z
  .string()
  .regex(/^\d{1,3}$/, 'must be a whole number of days')
  .transform(Number)
  .pipe(z.number().min(1).max(365))
export const flag = z.enum(['true', 'false', '1', '0']).transform((text) => text === 'true' || text === '1')
export const urlOf = (protocol: RegExp) => z.url({ protocol })
/** One Redis, or several nodes of a Redis Cluster, which share the scheme, name and password. */
export const redisNodes = list
  .pipe(z.array(urlOf(/^rediss?$/)).min(1))
  .refine(
    (urls) =>
      new Set(urls.map((url) => new URL(url)).map((url) => url.protocol + url.username + url.password))
        .size === 1,
    'must have the same scheme, name and password for every node',
  )
  .transform((urls) => urls.join(','))
export const smtpUrl = urlOf(/^smtps?$/).refine((url) => new URL(url).hostname !== '', 'must name a host')
/** Loose on purpose: `hub@localhost` is a valid address on a local mail server. */
export const address = z.string().regex(/^[^\s<>@,]+@[^\s<>@,]+$/, 'must be one e-mail address')
/** `address` or `Name <address>`. */
export const mailbox = z
  .string()
  .regex(/^[^<>\p{Cc}]+( <[^<>]+>)?$/u, 'must be an address, or a name and <address>')
  .transform((text) => {
    const [, name, inBrackets] = /^(.*) <(.*)>$/.exec(text) ?? []
    return { name: name ?? '', address: inBrackets ?? text }
  })
  .pipe(z.object({ name: z.string(), address }))
/** Normalized to the form that browsers send, because it is compared with the Origin header. */
export const origin = urlOf(/^https?$/)
  .refine((url) => /^[^/]+\/\/[^/?#@]+\/?$/.test(url), 'must be an origin: only scheme, host and port')
  .transform((url) => new URL(url).origin)

/** Returns the schema of a key, as `npx web-push generate-vapid-keys` prints it. */
export const base64url = (bytes: number) =>
  z
    .string()
    .regex(/^[A-Za-z0-9_-]+$/, 'must be base64url without padding')
    .refine((text) => Buffer.from(text, 'base64url').length === bytes, `must be ${bytes} bytes`)
