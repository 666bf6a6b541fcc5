import { useInfiniteQuery } from '@tanstack/react-query'
import type { NotificationEvent } from '@wheelhouse/protocol'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { useEffect } from 'react'
import { useStore } from '../base/store.ts'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { byId, useWrite } from '../platform/rest.ts'

export type Notification = Schemas['Notification']
const PAGE_SIZE = 30

/** Queries the notifications of the user, newest first, and provides the unread count and mark-as-read mutations. */
export function useNotifications() {
  const { rest, live } = usePlatform()
  const list = useInfiniteQuery({
    queryKey: keys.notifications,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: before }) =>
      answerOf(rest.GET('/api/notifications', { params: { query: { limit: PAGE_SIZE, before } } })),
    getNextPageParam: ({ notifications }) =>
      notifications.length < PAGE_SIZE ? undefined : notifications.at(-1)?.id,
  })
  const refresh = [keys.notifications]
  const markRead = useWrite((rest, id: string) => rest.POST('/api/notifications/{id}/read', byId(id)), {
    refresh,
  })
  const markAllRead = useWrite(
    (rest, upTo: string) => rest.POST('/api/notifications/read', { body: { up_to: upTo } }),
    { refresh },
  )
  const liveUnread = useStore(live.notifications.unread)
  return {
    list,
    notifications: list.data?.pages.flatMap((page) => page.notifications),
    unread: liveUnread ?? list.data?.pages[0]?.unread_count ?? 0,
    markRead,
    markAllRead,
  }
}

/** The text of a notification, and what it is about. */
export type NotificationText = ReturnType<typeof import('./texts.ts')['textOf']>

/** Calls `onNew` for every notification that arrives while the component is mounted. @param onNew stable between renders */
export function useNewNotifications(
  onNew: (notification: NotificationEvent, text: NotificationText) => void,
): void {
  const { live } = usePlatform()
  const { notifications } = useNotifications()
  const newest = notifications && (notifications[0]?.id ?? '0')
  useEffect(() => {
    if (newest !== undefined) live.notifications.follow(newest)
  }, [newest, live])
  useEffect(() => {
    // Loaded in advance, but not part of the first view.
    const texts = import('./texts.ts')
    texts.catch(() => undefined)
    return live.notifications.subscribe((notification) => {
      texts.then(
        ({ textOf }) => onNew(notification, textOf(notification)),
        (cause: unknown) => console.warn('notifications:', cause),
      )
    })
  }, [live, onNew])
}
