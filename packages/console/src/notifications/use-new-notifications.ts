import type { NotificationEvent } from '@wheelhouse/protocol'
import { useEffect } from 'react'
import { usePlatform } from '../app/platform.ts'
import { useNotifications } from './use-notifications.ts'

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
