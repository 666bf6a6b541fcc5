import { Badge, Text } from '@mantine/core'
import { useConnection } from '../platform/use-live.ts'
import { robotStatusTexts } from '../texts/code-texts.ts'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import { dateTime, relative } from '../ui/format.ts'
import { Time, useNow } from '../ui/time.tsx'
import type { Robot } from './use-robots.ts'

const colors: Record<Robot['status'], string> = {
  AVAILABLE: 'teal.9',
  IN_SESSION: 'blue.9',
  OFFLINE: 'gray.7',
}

export const RobotStatusBadge = ({ status }: { status: Robot['status'] }) => (
  <Badge color={colors[status]}>{robotStatusTexts[status]}</Badge>
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

/** Shows the age of the data while the live connection is down. */
export function StalenessNote({ asOfMs }: { asOfMs: number }) {
  const connection = useConnection()
  if (connection === 'live' || connection === 'connecting') return null
  return (
    <Text size="sm" role="status">
      {textParts('robots.status.outdated', { time: <Time at={asOfMs} /> })}
    </Text>
  )
}
