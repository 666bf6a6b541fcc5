import { ActionIcon, Indicator } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { notifications as toasts } from '@mantine/notifications'
import { IconBell } from '@tabler/icons-react'
import { lazy, Suspense, useEffect } from 'react'
import { usePlatform } from '../app/platform.ts'
import { textOf } from './texts.ts'
import { useNotifications } from './use-notifications.ts'

const NotificationDrawer = lazy(() => import('./drawer.tsx'))

/** Opens the notifications; says how many are unread, and tells of new ones as they come. */
export function NotificationBell() {
  const { live } = usePlatform()
  const { notifications, unread } = useNotifications()
  const [opened, { open, close }] = useDisclosure(false)
  const newest = notifications && (notifications[0]?.id ?? '0')
  useEffect(() => {
    if (newest === undefined) return
    live.notifications.follow(newest, (notification) => {
      const { title, detail } = textOf(notification)
      toasts.show({ id: notification.id, title, message: detail })
    })
  }, [newest, live])
  const label = unread > 0 ? `Notifications, ${unread} unread` : 'Notifications'
  return (
    <>
      <Indicator label={unread > 99 ? '99+' : unread} size={18} disabled={unread === 0} color="red.9">
        <ActionIcon variant="default" size="lg" aria-label={label} onClick={open}>
          <IconBell size={20} stroke={1.5} />
        </ActionIcon>
      </Indicator>
      <Suspense>{opened && <NotificationDrawer onClose={close} />}</Suspense>
    </>
  )
}
