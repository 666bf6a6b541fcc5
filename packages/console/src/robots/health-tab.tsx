import { Box, Group, Stack } from '@mantine/core'
import type { Schemas } from '@wheelhouse/sdk'
import { Band, BandKey, type BandPart, type BandState } from '../base/band.tsx'
import { DescriptionList, RowTable, type TableColumn } from '../base/data-table.tsx'
import { dateTime, duration, timeOfDay } from '../base/format.ts'
import { SessionLink } from '../base/links.tsx'
import { Panel, Section } from '../base/section.tsx'
import { Empty, QueryView } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { type Activity, bandPartsOf } from '../status/activity.ts'
import { reasonText, robotStateTexts } from '../texts/code-texts.ts'
import { percent } from '../texts/percent.ts'
import { language, t } from '../texts/texts.ts'
import styles from './overview.module.css'
import { type RobotDetail, useRobotHealth } from './use-robots.ts'

export function HealthTab({ robot }: { robot: RobotDetail }) {
  const query = useRobotHealth(robot.id)
  return (
    <QueryView query={query}>
      {(health) => (
        <Stack>
          <Section title={t('robots.health.lastDay')}>
            <Summary health={health} toMs={query.dataUpdatedAt} />
          </Section>
          <Section title={t('robots.health.incidents')}>
            <Incidents incidents={health.incidents} />
          </Section>
        </Stack>
      )}
    </QueryView>
  )
}

function Summary({ health, toMs }: { health: RobotHealth; toMs: number }) {
  const fromMs = Date.parse(health.since)
  const spans = connectedSpans(health.samples)
  const charges = spans.flatMap((span) => span.charges.map(({ battery }) => battery))
  const stops = health.incidents.filter(({ type }) => type === 'session.stopped')
  return (
    <>
      <DescriptionList
        cols={{ base: 1, xs: 2, md: 4 }}
        items={{
          [t('robots.health.connected')]: percent(connectedShare(spans, fromMs, toMs)),
          [t('robots.health.lowestBattery')]:
            charges.length === 0 ? t('robots.health.notReported') : percent(Math.min(...charges)),
          [t('robots.health.highestBattery')]:
            charges.length === 0 ? t('robots.health.notReported') : percent(Math.max(...charges)),
          [t('robots.health.stops')]: stops.length.toLocaleString(language),
        }}
      />
      <HealthChart fromMs={fromMs} toMs={toMs} spans={spans} incidents={health.incidents} />
    </>
  )
}

type Incident = RobotHealth['incidents'][number]

const incidentTexts: Record<Incident['type'], string> = {
  'session.stopped': t('robots.health.stopped'),
  'robot.lost': t('robots.health.lost'),
  'robot.back': t('robots.health.reconnected'),
}

const incidentColumns: readonly TableColumn<Incident>[] = [
  [
    t('robots.health.time'),
    ({ session_id, at }) =>
      session_id === null ? (
        <Time at={at} exact />
      ) : (
        <SessionLink id={session_id} inherit name={<Time at={at} exact />} />
      ),
  ],
  [t('robots.health.incident'), ({ type }) => incidentTexts[type]],
  [t('robots.health.by'), ({ actor_name }) => actor_name],
  [t('robots.health.reason'), ({ type, reason }) => type === 'session.stopped' && reasonText(reason)],
]

const Incidents = ({ incidents }: { incidents: readonly Incident[] }) =>
  incidents.length === 0 ? (
    <Empty title={t('robots.health.emptyTitle')} />
  ) : (
    <RowTable
      label={t('robots.health.label')}
      minWidth={480}
      columns={incidentColumns}
      rows={incidents}
      keyOf={({ session_id, at, type }) => `${session_id} ${at} ${type}`}
    />
  )

const WIDTH = 720
const HEIGHT = 160
const BATTERY_HEIGHT = 120
const LINK_TOP = 132
const LINK_HEIGHT = 10

/**
 * Draws charge and connection of the last day, with a line for every stop. The page lists the same values as text, so
 * the picture is hidden from screen readers.
 */
function HealthChart(props: {
  fromMs: number
  toMs: number
  spans: readonly ConnectedSpan[]
  incidents: RobotHealth['incidents']
}) {
  const { fromMs, toMs, spans, incidents } = props
  const x = (ms: number) => Math.max(0, Math.min(WIDTH, ((ms - fromMs) / (toMs - fromMs)) * WIDTH))
  const y = (battery: number) => (1 - battery) * BATTERY_HEIGHT
  const stops = incidents.filter(({ type }) => type === 'session.stopped')
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width="100%" role="presentation" aria-hidden="true">
      {[0, 0.5, 1].map((battery) => (
        <line
          key={battery}
          x1={0}
          x2={WIDTH}
          y1={y(battery)}
          y2={y(battery)}
          stroke="var(--mantine-color-default-border)"
        />
      ))}
      <rect
        y={LINK_TOP}
        width={WIDTH}
        height={LINK_HEIGHT}
        fill="var(--mantine-color-default-border)"
        opacity={0.5}
      />
      {spans.map((span) => (
        <g key={span.fromMs}>
          <rect
            x={x(span.fromMs)}
            width={Math.max(1, x(span.toMs) - x(span.fromMs))}
            y={LINK_TOP}
            height={LINK_HEIGHT}
            fill="var(--mantine-color-teal-8)"
          />
          <polyline
            points={span.charges.map(({ atMs, battery }) => `${x(atMs)},${y(battery)}`).join(' ')}
            fill="none"
            stroke="var(--mantine-color-blue-6)"
            strokeWidth={2}
          />
        </g>
      ))}
      {stops.map(({ at, session_id }) => (
        <line
          key={`${session_id} ${at}`}
          x1={x(Date.parse(at))}
          x2={x(Date.parse(at))}
          y1={0}
          y2={LINK_TOP + LINK_HEIGHT}
          stroke="var(--mantine-color-red-8)"
          strokeWidth={2}
        >
          <title>{dateTime(at)}</title>
        </line>
      ))}
    </svg>
  )
}

type RobotHealth = Schemas['RobotHealth']

/** A connected robot has a sample in each interval. */
export const SAMPLE_MS = 5 * 60_000

/** A time with a connection, in Unix milliseconds, and its charges, 0 to 1. */
interface ConnectedSpan {
  readonly fromMs: number
  readonly toMs: number
  readonly charges: readonly { readonly atMs: number; readonly battery: number }[]
}

/** Joins successive samples to spans of connection. A missing sample separates two spans. */
export function connectedSpans(samples: RobotHealth['samples']): ConnectedSpan[] {
  const spans: { fromMs: number; toMs: number; charges: { atMs: number; battery: number }[] }[] = []
  for (const { at, battery } of samples) {
    const atMs = Date.parse(at)
    let span = spans.at(-1)
    if (!span || atMs > span.toMs) {
      span = { fromMs: atMs, toMs: atMs, charges: [] }
      spans.push(span)
    }
    span.toMs = atMs + SAMPLE_MS
    if (battery !== null) span.charges.push({ atMs, battery })
  }
  return spans
}

/** Returns the share of time with a connection, 0 to 1. */
export function connectedShare(spans: readonly ConnectedSpan[], fromMs: number, toMs: number): number {
  const connectedMs = spans.reduce(
    (sum, span) => sum + Math.max(0, Math.min(toMs, span.toMs) - Math.max(fromMs, span.fromMs)),
    0,
  )
  return toMs > fromMs ? Math.min(1, connectedMs / (toMs - fromMs)) : 0
}

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
      <Box p="md">
        <Band label={STATES.map(textOf).join(', ')} fromMs={fromMs} toMs={toMs} parts={parts} isTall />
        <div className={styles.marks} aria-hidden="true">
          {Array.from({ length: MARKS }, (_, index) => fromMs + (index * HOURS * HOUR_MS) / MARKS).map(
            (atMs) => (
              <span key={atMs}>{timeOfDay(new Date(atMs))}</span>
            ),
          )}
          <span>{t('robots.latest.now')}</span>
        </div>
        <Group gap="6px 18px" mt={10} fz="sm" c="dimmed">
          {STATES.map((state) => (
            <BandKey key={state} state={state}>
              {textOf(state)}
            </BandKey>
          ))}
        </Group>
      </Box>
    </Panel>
  )
}
