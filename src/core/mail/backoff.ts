import type { MailFailureKind } from './mail-error.ts'

const FIRST_MS = 30_000
const LONGEST_MS = 3_600_000
/** Messages that failed together are not all tried again together. */
const JITTER = 0.25

/**
 * Milliseconds until the next attempt: 30 s, doubling up to an hour; an hour at once after a refusal, which
 * will last until somebody has changed something.
 * @param attempts how many have failed, at least 1.
 */
export function retryDelayMs(attempts: number, kind: MailFailureKind, random: () => number): number {
  const backoffMs = FIRST_MS * 2 ** Math.min(attempts - 1, 20)
  const delay = kind === 'refused' ? LONGEST_MS : Math.min(backoffMs, LONGEST_MS)
  return Math.min(Math.round(delay * (1 + random() * JITTER)), LONGEST_MS)
}
