import type { SessionStatus } from '@wheelhouse/protocol'
import type { SessionDetail } from '../session/session-query.ts'
import { estimate, useBillableSeconds } from '../session/session-time.ts'
import { t } from '../texts/texts.ts'
import { clockText, money, timeOfDay } from '../ui/format.ts'
import { useNow } from '../ui/time.tsx'
import { clockOf, type SessionClock } from './session-clock.ts'
import styles from './top-bar.module.css'

const levels = { running: 'good', soon: 'fair', over: 'bad' } as const

/** Shows how long the session has lasted, its planned length, and a warning when it ends soon. */
export function SessionTime({ session }: { session: SessionDetail }) {
  const clock = clockOf(session, useNow())
  const planned = clock?.plannedMs
  return (
    <span
      className={styles.figure}
      data-testid="session-clock"
      data-level={clock ? levels[clock.phase] : 'unknown'}
      title={titleOf(session, clock)}
    >
      {clock ? clockText(clock.elapsedMs / 1_000) : '–'}
      {planned !== undefined && <span className={styles.minor}> / {clockText(planned / 1_000)}</span>}
    </span>
  )
}

function titleOf({ planned_end }: SessionDetail, clock: SessionClock | undefined): string {
  if (!clock || planned_end === null) return t('drive.time.noEnd')
  const end = timeOfDay(new Date(planned_end))
  return clock.phase === 'over' ? t('drive.time.over', { time: end }) : t('drive.time.end', { time: end })
}

interface EarningsProps {
  readonly session: SessionDetail
  /** The newest known status. */
  readonly status: SessionStatus
  /** When the session was loaded, in Unix milliseconds. */
  readonly fetchedAtMs: number
  /** Whether nothing has arrived for a second. */
  readonly isSilent: boolean
}

/** Shows an estimate of the earnings so far; to an owner at the controls, of the cost. */
export const Earnings = (props: EarningsProps) => (
  <EarningsFigure session={props.session} seconds={useBillableSeconds(props)} isSilent={props.isSilent} />
)

/** Renders the earnings for this billed time. */
export function EarningsFigure(props: { session: SessionDetail; seconds: number; isSilent?: boolean }) {
  const { session, seconds, isSilent = false } = props
  const rateCents = session.rate_cents_per_minute
  if (rateCents === null) return null
  const { cents } = estimate(seconds, rateCents)
  const share = 'operator_share_percent' in session ? (session.operator_share_percent ?? 0) : undefined
  return (
    <span
      className={`${styles.figure} ${styles.earnings}`}
      data-testid="earnings"
      data-stale={isSilent || undefined}
      title={share === undefined ? t('drive.time.cost') : t('drive.time.earned')}
    >
      {money(share === undefined ? cents : Math.floor((cents * share) / 100))}
    </span>
  )
}
