import { Anchor, Box, Button, Drawer, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import type { NotificationGroup } from '@wheelhouse/protocol'
import { type FC, useState } from 'react'
import {
  IconBattery,
  IconBell,
  IconDatabase,
  IconHandStop,
  IconHistory,
  IconPause,
  IconReceipt,
  IconSteeringWheel,
  IconSwitch,
  IconUnplugged,
  IconUsers,
} from '../base/icons.tsx'
import { LinkAnchor } from '../base/links.tsx'
import { Empty, Loading, Note, Problem } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { StateLabel, StateSign, tones } from '../status/state-label.tsx'
import { t } from '../texts/texts.ts'
import { textOf } from './texts.ts'
import { type Notification, type NotificationText, useNotifications } from './use-notifications.ts'

type Shown = Notification & NotificationText

/** Lists all notifications, newest first, those of one session together. */
export default function NotificationDrawer({ onClose }: { onClose: () => void }) {
  const { list, notifications, unread, markRead, markAllRead } = useNotifications()
  const [filter, setFilter] = useState('all')
  const newest = notifications?.[0]
  const shown = notifications
    ?.map((notification) => ({ ...notification, ...textOf(notification) }))
    .filter(({ isImportant }) => isImportant || filter === 'all')
  return (
    <Drawer opened onClose={onClose} position="right" title={t('notifications.title')}>
      <Stack>
        <Group justify="space-between">
          <SegmentedControl
            aria-label={t('notifications.filter')}
            data={[
              { value: 'all', label: t('notifications.all') },
              { value: 'important', label: t('notifications.important') },
            ]}
            value={filter}
            onChange={setFilter}
          />
          {newest && unread > 0 && (
            <Button
              variant="default"
              size="xs"
              loading={markAllRead.isPending}
              onClick={() => markAllRead.mutate(newest.id)}
            >
              {t('notifications.markAllRead')}
            </Button>
          )}
        </Group>
        <Problem error={markAllRead.error ?? markRead.error} />
        <Problem error={list.error} onRetry={() => void list.refetch()} />
        {list.isPending && <Loading />}
        {shown?.length === 0 && (
          <Empty title={filter === 'all' ? t('notifications.emptyTitle') : t('notifications.noneImportant')}>
            {t('notifications.emptyText')}
          </Empty>
        )}
        {shown &&
          bySession(shown).map((group) => (
            <Stack
              key={group[0].id}
              component="ul"
              gap="0.6rem"
              m={0}
              px="sm"
              py="0.6rem"
              bd="1px solid var(--line)"
              bdrs="lg"
              style={{ listStyle: 'none', overflowWrap: 'anywhere' }}
            >
              {group.length > 1 && (
                <Text component="li" fw={600}>
                  {sessionTitle(group)}
                </Text>
              )}
              {group.map((entry) => (
                <Entry
                  key={entry.id}
                  entry={entry}
                  onRead={() => markRead.mutate(entry.id)}
                  onLeave={onClose}
                />
              ))}
            </Stack>
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

/** Puts the notifications of each session together, in the place of the newest one. */
function bySession(notifications: readonly Shown[]): [Shown, ...Shown[]][] {
  const groups = new Map<string, [Shown, ...Shown[]]>()
  for (const notification of notifications) {
    const key = notification.sessionId ?? notification.id
    const group = groups.get(key)
    if (group) group.push(notification)
    else groups.set(key, [notification])
  }
  return [...groups.values()]
}

const sessionTitle = (group: readonly Shown[]): string => {
  const robot = group.find(({ data }) => typeof data.robot_name === 'string')?.data.robot_name
  return robot ? t('notifications.sessionOn', { robot: String(robot) }) : t('notifications.session')
}

const icons: Readonly<Record<NotificationGroup, FC<{ size?: number }>>> = {
  stops: IconHandStop,
  robot_lost: IconUnplugged,
  pauses: IconPause,
  sessions: IconSteeringWheel,
  extensions: IconHistory,
  battery: IconBattery,
  account: IconUsers,
  money: IconReceipt,
  exports: IconDatabase,
  webhooks: IconSwitch,
}

function linkOf({ sessionId, exportId, isDataset }: Shown) {
  if (sessionId) return { to: '/sessions/$sessionId', params: { sessionId } } as const
  if (isDataset) return { to: '/datasets/exports' } as const
  return exportId ? ({ to: '/exports', search: { export: exportId } } as const) : undefined
}

function Entry(props: { entry: Shown; onRead: () => void; onLeave: () => void }) {
  const { entry, onRead, onLeave } = props
  const { title, detail, shape, group } = entry
  const isUnread = entry.read_at === null
  const follow = () => {
    if (isUnread) onRead()
    onLeave()
  }
  const weight = isUnread ? 650 : 450
  const link = linkOf(entry)
  const Icon = group ? icons[group] : IconBell
  return (
    <Group component="li" gap="sm" wrap="nowrap" align="flex-start">
      <StateSign
        tone={shape === 'stopped' || shape === 'lost' || shape === 'delayed' ? tones[shape] : undefined}
      >
        <Icon size={18} />
      </StateSign>
      <Box flex={1} miw={0}>
        <Group gap={6} wrap="nowrap" align="baseline">
          {shape !== 'off' && <StateLabel shape={shape}>{''}</StateLabel>}
          {link ? (
            <LinkAnchor {...link} onClick={follow} fw={weight}>
              {title}
            </LinkAnchor>
          ) : (
            <Text fw={weight}>{title}</Text>
          )}
        </Group>
        {detail && <Text size="sm">{detail}</Text>}
        <Group gap="sm">
          <Note>
            <Time at={entry.created_at} />
          </Note>
          {isUnread && (
            <Anchor
              component="button"
              size="sm"
              mih={24}
              onClick={onRead}
              aria-label={t('notifications.readLabel', { title })}
            >
              {t('notifications.read')}
            </Anchor>
          )}
        </Group>
      </Box>
    </Group>
  )
}
