import type { Role } from '@wheelhouse/protocol'
import { type RawBuilder, sql } from 'kysely'
import { coalesce } from '../../core/concurrency/concurrency.ts'
import type { CoreServices } from '../../core/core-services.ts'
import { memberMay } from '../../core/permissions/authorization.ts'
import type { Guard } from '../../core/process/guard.ts'

/** A reader must not receive data later than a second after the end of the link. */
const POLL_MS = 500

/** Returns the condition that a user may share a recording as a member of its organization, in a query with its robot. */
export const isSharer = (user: RawBuilder<unknown>): RawBuilder<boolean> =>
  memberMay('recordings.write', {
    user,
    organization: sql.ref('recordings.client_id'),
    group: sql.ref('robots.group_id'),
  })

/** The users who create links. */
export interface LinkAuthors {
  /** Returns the roles of the platform that a user has; undefined for one who is suspended or does not exist. */
  activeRoles(userId: string): Promise<readonly Role[] | undefined>
}

/** Reports those of the open links that are no longer valid. A message of the bus and a poll find them. */
export function watchLinks(
  deps: Pick<CoreServices, 'db' | 'bus' | 'log' | 'now'> & {
    readonly guard: Guard
    readonly users: LinkAuthors
  },
  openLinks: () => readonly string[],
  linkEnded: (linkId: string) => void,
): { close(): void } {
  const { db, bus, log, now, guard, users } = deps
  let failing = false

  // A poll that a message asks for must begin after the message.
  const poll = coalesce(async () => {
    const open = openLinks()
    if (open.length === 0) return
    try {
      const rows = await db
        .selectFrom('recording_shares as share')
        .innerJoin('recordings', 'recordings.id', 'share.recording_id')
        .innerJoin('robots', 'robots.id', 'recordings.robot_id')
        .select(['share.id', 'share.created_by'])
        .select(isSharer(sql.ref('share.created_by')).as('is_member'))
        .where('share.id', 'in', open)
        .where('share.revoked_at', 'is', null)
        .where('share.expires_at', '>', now())
        .execute()
      const authors = [...new Set(rows.map(({ created_by }) => created_by))]
      const roles = new Map(
        await Promise.all(authors.map(async (id) => [id, await users.activeRoles(id)] as const)),
      )
      const mayShare = ({ created_by: author, is_member }: (typeof rows)[number]) =>
        is_member ? roles.get(author) !== undefined : roles.get(author)?.includes('admin') === true
      const valid = new Set(rows.filter(mayShare).map(({ id }) => id))
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
