import { DescriptionItem, DescriptionList } from '../../ui/description-list.tsx'
import { percent } from '../../ui/percent.ts'
import { Time } from '../../ui/time.tsx'
import { HeartbeatAge } from '../robot-status.tsx'
import { type RobotDetail, useLiveRobots } from '../use-robots.ts'

/** Lists the last known state of a robot. */
export function RobotDetails({ robot }: { robot: RobotDetail }) {
  const { last_heartbeat } = useLiveRobots()(robot)
  return (
    <DescriptionList cols={{ base: 1, xs: 2 }}>
      <DescriptionItem label="Last heartbeat">
        <HeartbeatAge at={last_heartbeat} />
      </DescriptionItem>
      <DescriptionItem label="Battery">
        <Battery robot={robot} />
      </DescriptionItem>
      <DescriptionItem label="Last online">
        {robot.last_online ? <Time at={robot.last_online} /> : 'never'}
      </DescriptionItem>
      <DescriptionItem label="Drive time">{hours(robot.total_hours)}</DescriptionItem>
    </DescriptionList>
  )
}

const hours = (value: number) =>
  new Intl.NumberFormat(undefined, {
    style: 'unit',
    unit: 'hour',
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
  }).format(value)

function Battery({ robot: { battery, battery_at: at } }: { robot: RobotDetail }) {
  if (battery === null || at === null) return 'not reported'
  return (
    <>
      {percent(battery)}, <Time at={at} />
    </>
  )
}
