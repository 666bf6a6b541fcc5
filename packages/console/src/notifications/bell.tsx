import { ActionIcon, Anchor, Indicator } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { notifications as toasts } from '@mantine/notifications'
import { useNavigate } from '@tanstack/react-router'
import type { NotificationEvent } from '@wheelhouse/protocol'
import { lazy, Suspense, useEffect } from 'react'
import { usePlatform } from '../app/platform.ts'
import { IconBell } from '../ui/icons.tsx'
import { useNotifications } from './use-notifications.ts'

const NotificationDrawer = lazy(() => import('./drawer.tsx'))

/** Opens the notifications, shows the unread count and pops up new notifications. */
export function NotificationBell() {
  const { live } = usePlatform()
  const { notifications, unread } = useNotifications()
  const navigate = useNavigate()
  const [opened, { open: openList, close }] = useDisclosure(false)
  const newest = notifications && (notifications[0]?.id ?? '0')
  useEffect(() => {
    if (newest === undefined) return
    // Loaded in advance, but not part of the first view.
    const texts = import('./texts.ts')
    texts.catch(() => undefined)
    const show = ({ textOf }: Awaited<typeof texts>, notification: NotificationEvent) => {
      const { title, detail, sessionId, exportId } = textOf(notification)
      const { id } = notification
      // Pop-ups render outside of the router, so they cannot use its links.
      const open = () => {
        toasts.hide(id)
        if (sessionId) void navigate({ to: '/sessions/$sessionId', params: { sessionId } })
        else if (exportId) void navigate({ to: '/exports', search: { export: exportId } })
      }
      const link = sessionId ? 'View session' : exportId && 'View export'
      const message = link ? <ToastLink detail={detail} link={link} onOpen={open} /> : detail
      toasts.show({ id, title, message })
    }
    live.notifications.follow(newest, (notification) => {
      texts.then(
        (loaded) => show(loaded, notification),
        (cause: unknown) => console.warn('notifications:', cause),
      )
    })
  }, [newest, live, navigate])
  const label = unread > 0 ? `Notifications, ${unread} unread` : 'Notifications'
  return (
    <>
      <Indicator label={unread > 99 ? '99+' : unread} size={18} disabled={unread === 0} color="red.9">
        <ActionIcon variant="default" size="lg" aria-label={label} onClick={openList}>
          <IconBell size={20} stroke={1.5} />
        </ActionIcon>
      </Indicator>
      <Suspense>{opened && <NotificationDrawer onClose={close} />}</Suspense>
    </>
  )
}

const ToastLink = (props: { detail: string; link: string; onOpen: () => void }) => (
  <>
    {props.detail}{' '}
    <Anchor component="button" type="button" size="sm" onClick={props.onOpen}>
      {props.link}
    </Anchor>
  </>
)
