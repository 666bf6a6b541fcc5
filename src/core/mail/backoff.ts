import type { MailFailureKind } from './mail-error.ts'

const FIRST_MS = 30_000
const LONGEST_MS = 3_600_000
/** Randomizes retries, so that mails that failed together are not retried together. */
const JITTER = 0.25

/**
 * Returns the milliseconds until the next attempt: 30 s, doubling up to an hour. After a refusal the delay is an
 * hour, because a refusal lasts until the configuration or the mailbox changes.
 * @param attempts the number of failed attempts, at least 1.
 */
export function retryDelayMs(attempts: number, kind: MailFailureKind, random: () => number): number {
  const backoffMs = FIRST_MS * 2 ** Math.min(attempts - 1, 20)
  const delay = kind === 'refused' ? LONGEST_MS : Math.min(backoffMs, LONGEST_MS)
  return Math.min(Math.round(delay * (1 + random() * JITTER)), LONGEST_MS)
}
