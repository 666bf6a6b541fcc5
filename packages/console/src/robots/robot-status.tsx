import { Badge, Group, Loader, Text } from '@mantine/core'
import { dateTime, relative } from '../base/format.ts'
import { LinkAnchor } from '../base/links.tsx'
import { useNow } from '../base/time.tsx'
import type { ShapeName } from '../status/shape-name.ts'
import { StateLabel, type Tone } from '../status/state-label.tsx'
import { robotStatusTexts } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import { type Robot, useLiveRobots, useRobot } from './use-robots.ts'

const looks: Record<Robot['status'], { shape: ShapeName; tone: Tone }> = {
  AVAILABLE: { shape: 'off', tone: 'live' },
  IN_SESSION: { shape: 'live', tone: 'live' },
  OFFLINE: { shape: 'off', tone: 'off' },
}

export const RobotStatusLabel = (props: { status: Robot['status']; isOnPicture?: boolean }) => (
  <StateLabel {...looks[props.status]} state={props.status} isOnPicture={props.isOnPicture ?? false}>
    {robotStatusTexts[props.status]}
  </StateLabel>
)

/** Shows the age of the last heartbeat, in seconds while it is recent. */
export function HeartbeatAge({ at }: { at: string | null }) {
  const nowMs = useNow()
  if (at === null) return t('robots.status.never')
  // The viewer's clock may lag behind the platform's clock.
  const seconds = Math.max(0, Math.round((nowMs - Date.parse(at)) / 1_000))
  return (
    <time dateTime={at} title={dateTime(at)}>
      {seconds < 60 ? t('robots.status.secondsAgo', { seconds }) : relative(at, nowMs)}
    </time>
  )
}

export function ConnectionStatus({ robot }: { robot: Robot }) {
  const withLiveStatus = useLiveRobots()
  const { status } = withLiveStatus(useRobot(robot.id).data ?? robot)
  const online = status !== 'OFFLINE'
  return (
    <Group component="section" aria-label={t('robots.connect.statusLabel')} mih={40}>
      <Group role="status" gap="xs">
        {online ? <RobotStatusLabel status={status} /> : <Loader size="sm" aria-hidden />}
        <Text>
          {t(online ? 'robots.connect.connected' : 'robots.connect.waiting', { robot: robot.name })}
        </Text>
      </Group>
    </Group>
  )
}

/** Renders the first tag of a robot in a list, and how many more it has. The tag links to the robots that have it. */
export function RobotTags({ tags, to }: { tags: readonly string[]; to: '/robots' | '/admin/robots' }) {
  const [tag, ...more] = new Set(tags)
  if (tag === undefined) return null
  return (
    <Group gap={4} wrap="nowrap">
      <LinkAnchor to={to} search={{ tag }} aria-label={t('robots.list.withTag', { tag })}>
        <Badge style={{ cursor: 'inherit' }}>{tag}</Badge>
      </LinkAnchor>
      {more.length > 0 && (
        <Text span size="sm" c="dimmed" title={more.join(', ')}>
          +{more.length}
        </Text>
      )}
    </Group>
  )
}
