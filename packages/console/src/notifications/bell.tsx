import { ActionIcon, Anchor, Indicator } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { notifications as toasts } from '@mantine/notifications'
import { useNavigate } from '@tanstack/react-router'
import type { NotificationEvent } from '@wheelhouse/protocol'
import { lazy, Suspense, useCallback } from 'react'
import { IconBell } from '../base/icons.tsx'
import type { ShapeName } from '../status/shape-name.ts'
import { Shape } from '../status/shapes.tsx'
import { t } from '../texts/texts.ts'
import { type NotificationText, useNewNotifications, useNotifications } from './use-notifications.ts'

const NotificationDrawer = lazy(() => import('./drawer.tsx'))

/** Opens the notifications, shows the unread count and pops up new notifications. */
export function NotificationBell() {
  const { unread } = useNotifications()
  const navigate = useNavigate()
  const [opened, { open: openList, close }] = useDisclosure(false)
  const show = useCallback(
    ({ id }: NotificationEvent, { title, detail, shape, sessionId, exportId }: NotificationText) => {
      // Pop-ups render outside of the router, so they cannot use its links.
      const open = () => {
        toasts.hide(id)
        if (sessionId) void navigate({ to: '/sessions/$sessionId', params: { sessionId } })
        else if (exportId) void navigate({ to: '/exports', search: { export: exportId } })
      }
      const link = sessionId ? t('notifications.viewSession') : exportId && t('notifications.viewExport')
      const message = link ? <ToastLink detail={detail} link={link} onOpen={open} /> : detail
      // Routine has no mark: a stop must look different from a session that started.
      const mark = shape === 'off' ? {} : { icon: <Shape name={shape} />, color: colors[shape] ?? 'gray' }
      toasts.show({ id, title, message, ...mark })
    },
    [navigate],
  )
  useNewNotifications(show)
  const label = unread > 0 ? t('notifications.unread', { unread }) : t('notifications.title')
  return (
    <>
      <Indicator
        label={unread > 99 ? '99+' : unread}
        size={18}
        offset={6}
        disabled={unread === 0}
        color="blue"
      >
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={label} onClick={openList}>
          <IconBell size={20} stroke={1.5} />
        </ActionIcon>
      </Indicator>
      <Suspense>{opened && <NotificationDrawer onClose={close} />}</Suspense>
    </>
  )
}

/** The colours of the marks of pop-ups, dark enough for a white shape. */
const colors: Partial<Record<ShapeName, string>> = {
  stopped: 'red.9',
  lost: 'red.9',
  delayed: 'yellow.9',
  request: 'blue.9',
}

const ToastLink = (props: { detail: string; link: string; onOpen: () => void }) => (
  <>
    {props.detail}{' '}
    <Anchor component="button" type="button" size="sm" onClick={props.onOpen}>
      {props.link}
    </Anchor>
  </>
)
