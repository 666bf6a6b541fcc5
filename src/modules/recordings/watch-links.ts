import { coalesce } from '../../core/concurrency/concurrency.ts'
import type { CoreServices } from '../../core/core-services.ts'
import type { Guard } from '../../core/process/guard.ts'

/** A reader must not receive data later than a second after the end of the link. */
const POLL_MS = 500

/** Reports those of the open links that are no longer valid. A message of the bus and a poll find them. */
export function watchLinks(
  deps: Pick<CoreServices, 'db' | 'bus' | 'log' | 'now'> & { readonly guard: Guard },
  openLinks: () => readonly string[],
  linkEnded: (linkId: string) => void,
): { close(): void } {
  const { db, bus, log, now, guard } = deps
  let failing = false

  // A poll that a message asks for must begin after the message.
  const poll = coalesce(async () => {
    const open = openLinks()
    if (open.length === 0) return
    try {
      const rows = await db
        .selectFrom('recording_shares as share')
        .innerJoin('users', 'users.id', 'share.created_by')
        .select('share.id')
        .where('share.id', 'in', open)
        .where('share.revoked_at', 'is', null)
        .where('share.expires_at', '>', now())
        .where('users.suspended_at', 'is', null)
        .execute()
      const valid = new Set(rows.map(({ id }) => id))
      for (const id of open) if (!valid.has(id)) linkEnded(id)
      failing = false
    } catch (cause) {
      if (!failing) log.warn({ err: cause }, 'reading revoked links of recordings failed')
      failing = true
    }
  })

  const unsubscribes = [
    guard.subscribe(bus, 'recording_link.revoked', ({ linkId }) => linkEnded(linkId)),
    guard.subscribe(bus, 'permissions.lost', poll), // of the author of a link
  ]
  const timer = guard.every('timer:recording-links', POLL_MS, poll)
  return {
    close() {
      clearInterval(timer)
      for (const unsubscribe of unsubscribes) unsubscribe()
    },
  }
}
