import { percent } from '../texts/percent.ts'
import { t } from '../texts/texts.ts'
import { useStore } from '../ui/store.ts'
import type { BatteryReading } from './battery-trend.ts'
import { wholeMinutes } from './figure-texts.ts'
import type { OperatorConnection } from './operator-connection.ts'
import styles from './top-bar.module.css'

const levels = { good: 'good', low: 'fair', critical: 'bad' } as const
const arrows: Record<BatteryReading['trend'], string> = {
  charging: '↑',
  draining: '↓',
  level: '',
  unknown: '',
}

/** Shows the charge of the robot, its trend and, while it drains, how long it lasts. */
export const Battery = (props: { operatorConnection: OperatorConnection; isSilent: boolean }) => (
  <BatteryFigure reading={useStore(props.operatorConnection.battery)} isSilent={props.isSilent} />
)

interface FigureProps {
  /** Undefined while the charge is unknown. */
  readonly reading: BatteryReading | undefined
  /** Whether nothing has arrived for a second, so that this is only the last known charge. */
  readonly isSilent?: boolean
}

/** Renders a charge. */
export function BatteryFigure({ reading, isSilent = false }: FigureProps) {
  return (
    <span
      className={styles.figure}
      data-testid="battery"
      data-level={reading && !isSilent ? levels[reading.level] : 'unknown'}
      data-stale={(isSilent && reading !== undefined) || undefined}
      title={textOf(reading)}
    >
      <span className={styles.batteryIcon} aria-hidden="true" />
      {reading ? percent(reading.charge) : t('drive.battery.none')}
      {reading && <span aria-hidden="true">{arrows[reading.trend]}</span>}
      {reading?.minutesLeft !== undefined && (
        <span className={styles.minor}>~{wholeMinutes(reading.minutesLeft)}</span>
      )}
    </span>
  )
}

function textOf(reading: BatteryReading | undefined): string {
  if (reading === undefined) return t('drive.battery.unknown')
  if (reading.level === 'critical') return t('drive.battery.critical')
  if (reading.level === 'low') return t('drive.battery.low')
  return reading.trend === 'charging' ? t('drive.battery.charging') : t('drive.battery.label')
}
