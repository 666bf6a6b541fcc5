import { Button, Drawer, Group, Stack, Text } from '@mantine/core'
import { LinkAnchor } from '../base/links.tsx'
import { Empty, Loading, Problem } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { t } from '../texts/texts.ts'
import { textOf } from './texts.ts'
import { type Notification, useNotifications } from './use-notifications.ts'

/** Lists all notifications, newest first. */
export default function NotificationDrawer({ onClose }: { onClose: () => void }) {
  const { list, notifications, unread, markRead, markAllRead } = useNotifications()
  const newest = notifications?.[0]
  return (
    <Drawer opened onClose={onClose} position="right" title={t('notifications.title')}>
      <Stack>
        {newest && unread > 0 && (
          <Button
            variant="default"
            loading={markAllRead.isPending}
            onClick={() => markAllRead.mutate(newest.id)}
          >
            {t('notifications.markAllRead')}
          </Button>
        )}
        <Problem error={markAllRead.error ?? markRead.error} />
        <Problem error={list.error} onRetry={() => void list.refetch()} />
        {list.isPending && <Loading />}
        {notifications?.length === 0 && (
          <Empty title={t('notifications.emptyTitle')}>{t('notifications.emptyText')}</Empty>
        )}
        {notifications?.map((notification) => (
          <Entry
            key={notification.id}
            notification={notification}
            onRead={() => markRead.mutate(notification.id)}
            onLeave={onClose}
          />
        ))}
        {list.hasNextPage && (
          <Button
            variant="default"
            loading={list.isFetchingNextPage}
            onClick={() => void list.fetchNextPage()}
          >
            {t('notifications.older')}
          </Button>
        )}
      </Stack>
    </Drawer>
  )
}

function Entry(props: { notification: Notification; onRead: () => void; onLeave: () => void }) {
  const { notification, onRead, onLeave } = props
  const { title, detail, sessionId, exportId, isDataset } = textOf(notification)
  const isUnread = notification.read_at === null
  const follow = () => {
    if (isUnread) onRead()
    onLeave()
  }
  const weight = isUnread ? 700 : 400
  return (
    <Group justify="space-between" wrap="nowrap" align="flex-start">
      <div>
        {sessionId ? (
          <LinkAnchor to="/sessions/$sessionId" params={{ sessionId }} onClick={follow} fw={weight}>
            {title}
          </LinkAnchor>
        ) : isDataset ? (
          <LinkAnchor to="/datasets/exports" onClick={follow} fw={weight}>
            {title}
          </LinkAnchor>
        ) : exportId ? (
          <LinkAnchor to="/exports" search={{ export: exportId }} onClick={follow} fw={weight}>
            {title}
          </LinkAnchor>
        ) : (
          <Text fw={weight}>{title}</Text>
        )}
        {detail && <Text size="sm">{detail}</Text>}
        <Text size="sm" c="dimmed">
          <Time at={notification.created_at} />
        </Text>
      </div>
      {isUnread && (
        <Button
          variant="subtle"
          size="compact-sm"
          onClick={onRead}
          aria-label={t('notifications.readLabel', { title })}
        >
          {t('notifications.read')}
        </Button>
      )}
    </Group>
  )
}
