import { percent } from '../../texts/percent.ts'
import { textParts } from '../../texts/text-parts.tsx'
import { language, t } from '../../texts/texts.ts'
import { DescriptionItem, DescriptionList } from '../../ui/data-table.tsx'
import { Time } from '../../ui/time.tsx'
import { HeartbeatAge } from '../robot-status.tsx'
import { type RobotDetail, useLiveRobots } from '../use-robots.ts'

/** Lists the last known state of a robot. */
export function RobotDetails({ robot }: { robot: RobotDetail }) {
  const { last_heartbeat, status } = useLiveRobots()(robot)
  return (
    <DescriptionList cols={{ base: 1, xs: 2 }}>
      <DescriptionItem label={t('robots.details.lastHeartbeat')}>
        <HeartbeatAge at={last_heartbeat} />
      </DescriptionItem>
      <DescriptionItem label={t('robots.details.battery')}>
        <Battery robot={robot} />
      </DescriptionItem>
      {status === 'OFFLINE' && (
        <DescriptionItem label={t('robots.details.lastOnline')}>
          {robot.last_online ? <Time at={robot.last_online} /> : t('robots.details.never')}
        </DescriptionItem>
      )}
      <DescriptionItem label={t('robots.details.driveTime')}>{hours(robot.total_hours)}</DescriptionItem>
    </DescriptionList>
  )
}

const hours = (value: number) =>
  new Intl.NumberFormat(language, {
    style: 'unit',
    unit: 'hour',
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
  }).format(value)

function Battery({ robot: { battery, battery_at: at } }: { robot: RobotDetail }) {
  if (battery === null || at === null) return t('robots.details.notReported')
  return textParts('robots.details.charge', { charge: percent(battery), time: <Time at={at} /> })
}
