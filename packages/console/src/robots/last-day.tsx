import { Card, Text } from '@mantine/core'
import { Band, BandKey, type BandPart, type BandState } from '../base/band.tsx'
import { duration, timeOfDay } from '../base/format.ts'
import { Panel } from '../base/section.tsx'
import { type Activity, bandPartsOf } from '../status/activity.ts'
import { robotStateTexts } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import { connectedSpans } from './health-tab.tsx'
import styles from './overview.module.css'
import { useRobotHealth } from './robot-health.ts'
import type { RobotDetail } from './use-robots.ts'

const HOURS = 24
const HOUR_MS = 3_600_000
/** Marks of the time below the band. */
const MARKS = 6
const STATES: readonly BandState[] = ['DRIVING', 'PAUSED', 'STOPPED', 'READY', 'OFFLINE']

/** Shows as a band what a robot did in the last day, with the time in each state. */
export function LastDay({ robot, activity }: { robot: RobotDetail; activity: Activity | undefined }) {
  const health = useRobotHealth(robot.id)
  if (!health.data || !activity) return null
  const toMs = Date.parse(activity.at)
  const fromMs = toMs - HOURS * HOUR_MS
  const sessions = activity.sessions.toReversed().flatMap((session) => bandPartsOf(session, toMs))
  const connected = connectedSpans(health.data.samples).map(
    (span): BandPart => ({ state: 'READY', fromMs: span.fromMs, toMs: Math.min(toMs, span.toMs) }),
  )
  const parts: BandPart[] = [{ state: 'OFFLINE', fromMs, toMs }, ...connected, ...sessions]
  const sum = (of: readonly BandPart[]) =>
    of.reduce((ms, part) => ms + Math.max(0, part.toMs - Math.max(fromMs, part.fromMs)), 0)
  const inState = (state: BandState) => sum(sessions.filter((part) => part.state === state))
  const onlineMs = Math.min(HOURS * HOUR_MS, Math.max(sum(connected), sum(sessions)))
  const times: Record<BandState, number> = {
    DRIVING: inState('DRIVING'),
    PAUSED: inState('PAUSED'),
    STOPPED: inState('STOPPED'),
    READY: Math.max(0, onlineMs - sum(sessions)),
    OFFLINE: HOURS * HOUR_MS - onlineMs,
  }
  const textOf = (state: BandState) => `${robotStateTexts[state]} ${duration(times[state] / 60_000)}`
  return (
    <Panel title={t('robots.health.lastDay')}>
      <Card p="md">
        <Band label={STATES.map(textOf).join(', ')} fromMs={fromMs} toMs={toMs} parts={parts} isTall />
        <div className={styles.marks} aria-hidden="true">
          {Array.from({ length: MARKS }, (_, index) => fromMs + (index * HOURS * HOUR_MS) / MARKS).map(
            (atMs) => (
              <span key={atMs}>{timeOfDay(new Date(atMs))}</span>
            ),
          )}
          <span>{t('robots.latest.now')}</span>
        </div>
        <Text component="div" size="sm" c="dimmed" className={styles.legend}>
          {STATES.map((state) => (
            <BandKey key={state} state={state}>
              {textOf(state)}
            </BandKey>
          ))}
        </Text>
      </Card>
    </Panel>
  )
}
