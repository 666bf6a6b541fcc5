import type { QueryClient } from '@tanstack/react-query'
import type { NotificationEvent } from '@wheelhouse/protocol'
import type { HubClient } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'
import { createStore, type Store } from '../ui/store.ts'

export interface NotificationFeed {
  /** The number of unread notifications, undefined until known. */
  readonly unread: Store<number | undefined>
  /** Follows the notifications after id `after`. Later calls are ignored. */
  follow(after: string): void
  /** Calls a listener once for every followed notification. Returns a function that unsubscribes. */
  subscribe(listener: (notification: NotificationEvent) => void): () => void
}

/** The query keys to invalidate, by kind of notification. */
const invalidatedKeys: Record<string, readonly (readonly string[])[]> = {
  // The live robots show their open sessions.
  session: [keys.sessions, keys.stats, keys.robots],
  extension: [keys.sessions],
  robot: [keys.sessions, keys.robots],
  certification: [keys.certifications, keys.robots],
  invoice: [keys.invoices, keys.stats],
  payout: [keys.payouts, keys.stats],
  webhook: [keys.webhooks],
}

export function createNotificationFeed(hub: HubClient, queries: QueryClient): NotificationFeed {
  const unread = createStore<number | undefined>(undefined)
  const listeners = new Set<(notification: NotificationEvent) => void>()
  let following = false
  const refresh = (queryKey: readonly string[]) => void queries.invalidateQueries({ queryKey })
  const report = (cause: unknown) => console.warn('notifications:', cause)
  return {
    unread,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    follow(after) {
      if (following) return
      following = true
      hub
        .onNotification(
          (notification) => {
            refresh(keys.notifications)
            const kind = notification.type.split('.')[0] ?? ''
            for (const queryKey of invalidatedKeys[kind] ?? []) refresh(queryKey)
            for (const listener of [...listeners]) listener(notification)
          },
          { after },
        )
        .catch(report)
      hub
        .watchUnread((update) => {
          unread.set(update.unread)
          if (update.read) refresh(keys.notifications)
        })
        .catch(report)
    },
  }
}
