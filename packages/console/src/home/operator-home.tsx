import { Box, Group, Stack, Text } from '@mantine/core'
import type { Schemas } from '@wheelhouse/sdk'
import { type ReactNode, useState } from 'react'
import { duration, money, shortWeekday, timeOfDay } from '../base/format.ts'
import { IconRobot } from '../base/icons.tsx'
import { LinkAnchor, LinkButton, SessionLink } from '../base/links.tsx'
import { Columns, Lines, Panel } from '../base/section.tsx'
import { Note, QueryView } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { useGatewayLatency } from '../operator/queries.ts'
import { keys } from '../platform/queries.ts'
import { useRead } from '../platform/rest.ts'
import { useSession } from '../session/session-query.ts'
import { StateLabel, StateSign } from '../status/state-label.tsx'
import { TrustBadge } from '../status/trust-badge.tsx'
import { percent } from '../texts/percent.ts'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import { useSessionCameras } from '../video/use-cameras.ts'
import { useReadAges } from '../video/video-view.tsx'
import type { VideoWatch } from '../video/watch-video.ts'
import tile from '../wall/tile.module.css'
import { TileVideo } from '../wall/tile-picture.tsx'
import styles from './home.module.css'

type OperatorOverview = Schemas['OperatorOverview']
type FreeRobot = OperatorOverview['free'][number]

/** Events announce sessions. */
const POLL_MS = 15_000

/** Shows an operator the next thing to do, the week, the schedule and the free robots. */
export default function OperatorHome() {
  const query = useRead(
    [...keys.sessions, 'operator-overview'],
    (rest, { signal }) => rest.GET('/api/operator/overview', { signal }),
    { refetchInterval: POLL_MS },
  )
  return (
    <QueryView query={query}>
      {({ open_session, planned, free, week }) => (
        <Stack gap="lg">
          <Columns of="minmax(0, 1.7fr) minmax(280px, 1fr)">
            <Next open={open_session} planned={planned[0]} best={free[0]} />
            <Week week={week} />
          </Columns>
          <Columns of="minmax(0, 1.7fr) minmax(280px, 1fr)">
            {!open_session && <FreeRobots robots={free} />}
            <Schedule sessions={planned} />
          </Columns>
        </Stack>
      )}
    </QueryView>
  )
}

/** A planned session is the next thing from this time before it begins. */
const SOON_MS = 60 * 60_000

/** Offers the next thing: the open session, a planned one that begins soon, or the best free robot. */
function Next(props: {
  open: OperatorOverview['open_session']
  planned: OperatorOverview['planned'][number] | undefined
  best: FreeRobot | undefined
}) {
  const { open, planned, best } = props
  if (open) return <Resume key={open.id} session={open} />
  if (planned && (!best || Date.parse(planned.scheduled_for) - Date.now() < SOON_MS)) {
    return (
      <Hero
        label={t('home.operator.next')}
        name={planned.robot_name}
        note={<Time at={planned.scheduled_for} exact />}
      >
        <LinkButton size="md" to="/sessions/$sessionId" params={{ sessionId: planned.id }}>
          {t('home.operator.openSessionPage')}
        </LinkButton>
      </Hero>
    )
  }
  if (best) return <Best key={best.id} robot={best} />
  return (
    <Hero
      label={t('home.operator.robots')}
      name={t('home.operator.noRobotsTitle')}
      note={t('home.operator.noRobots')}
    >
      <LinkButton size="md" variant="default" to="/available">
        {t('home.operator.allRobots')}
      </LinkButton>
    </Hero>
  )
}

function Hero(props: {
  label: string
  name: string
  note: ReactNode
  chip?: ReactNode
  picture?: ReactNode
  children: ReactNode
}) {
  return (
    <section className={styles.hero} aria-label={props.label}>
      {props.picture}
      {props.chip && (
        <Box pos="absolute" top={16} left={20} style={{ zIndex: 1 }}>
          {props.chip}
        </Box>
      )}
      <div>
        <Group justify="space-between" align="flex-end">
          <div>
            <h2>{props.name}</h2>
            <Text c="var(--ink-2)">{props.note}</Text>
          </div>
          {props.children}
        </Group>
      </div>
    </section>
  )
}

function Resume({ session }: { session: NonNullable<OperatorOverview['open_session']> }) {
  const { data } = useSession(session.id)
  const source = useSessionCameras({ id: session.id, stream_url: data?.stream_url ?? null }, 'control').main
    ?.source
  const [watch, setWatch] = useState<VideoWatch>()
  const readAges = useReadAges(watch, undefined)
  const facts = {
    isConnected: session.robot_connected,
    isStopped: session.stopped,
    isPaused: session.status === 'PAUSED',
  }
  return (
    <Hero
      label={t('home.operator.openSession')}
      name={session.robot_name}
      note={
        <>
          {session.stopped && `${t('home.operator.stopInForce')} `}
          {!session.robot_connected && `${t('home.operator.robotOffline')} `}
          {textParts('home.operator.started', { time: <Time at={session.started_at} /> })}
        </>
      }
      chip={<TrustBadge readAges={readAges} robot={facts} isOnPicture />}
      picture={
        source && (
          <div className={tile.picture}>
            <TileVideo
              source={source}
              title={t('live.tile.camera', { robot: session.robot_name })}
              onWatch={setWatch}
            />
          </div>
        )
      }
    >
      <LinkButton size="md" to="/drive/$sessionId" params={{ sessionId: session.id }}>
        {t('home.operator.continue')}
      </LinkButton>
    </Hero>
  )
}

/** Offers a free robot. Its picture is part of a session, so that nobody watches without one. */
function Best({ robot: { id, name, robot_type, battery, own_sessions } }: { robot: FreeRobot }) {
  const { data } = useRead([...keys.robots, 'pre-flight', id], (rest, { signal }) =>
    rest.GET('/api/operator/robots/{id}', { params: { path: { id } }, signal }),
  )
  const facts = [
    robot_type,
    data && t('home.operator.rate', { rate: money(data.earnings_cents_per_minute * 60) }),
    battery !== null && t('home.operator.battery', { charge: percent(battery) }),
    own_sessions > 0 && t('home.operator.ownSessions', { count: own_sessions }),
  ]
  return (
    <Hero
      label={t('home.operator.best')}
      name={name}
      note={facts.filter((fact) => fact).join(' · ')}
      chip={
        <StateLabel
          shape="off"
          tone="live"
          isOnPicture
          detail={data?.gateway_url && <Latency gatewayUrl={data.gateway_url} />}
        >
          {t('home.operator.free')}
        </StateLabel>
      }
    >
      <LinkButton size="md" to="/available/$robotId" params={{ robotId: id }}>
        {t('home.operator.drive', { robot: name })}
      </LinkButton>
    </Hero>
  )
}

function Latency({ gatewayUrl }: { gatewayUrl: string }) {
  const { data } = useGatewayLatency(gatewayUrl)
  return data ? t('home.operator.latency', { ms: Math.round(data.medianMs) }) : null
}

/** The tallest bar of the week. */
const BAR_PX = 84

function Week({ week }: { week: OperatorOverview['week'] }) {
  const most = Math.max(1, ...week.map(({ earnings_cents }) => earnings_cents))
  const today = new Date().toISOString().slice(0, 10)
  const sum = (of: (day: (typeof week)[number]) => number) => week.reduce((all, day) => all + of(day), 0)
  return (
    <Panel
      title={t('home.operator.week')}
      more={<LinkAnchor to="/earnings">{t('home.operator.earnings')}</LinkAnchor>}
    >
      <Stack gap={0} h="100%">
        <div className={styles.week}>
          {week.map(({ day, earnings_cents }) => (
            <div key={day} data-today={day === today}>
              {earnings_cents > 0 && <span>{money(earnings_cents)}</span>}
              <i style={{ height: (earnings_cents / most) * BAR_PX }} />
              {shortWeekday(day)}
            </div>
          ))}
        </div>
        <Group
          justify="space-between"
          align="baseline"
          px={18}
          py={12}
          c="dimmed"
          style={{ borderTop: '1px solid var(--line)' }}
        >
          {t('home.operator.drivenTime', { time: duration(sum((day) => day.driven_seconds) / 60) })}
          <Text size="xl" fw={650} c="var(--mantine-color-text)">
            {money(sum((day) => day.earnings_cents))}
          </Text>
        </Group>
      </Stack>
    </Panel>
  )
}

const Schedule = ({ sessions }: { sessions: OperatorOverview['planned'] }) => (
  <Panel
    title={t('home.operator.next')}
    more={<LinkAnchor to="/schedule">{t('home.operator.schedule')}</LinkAnchor>}
  >
    {sessions.length === 0 ? (
      <p className={styles.none}>{t('home.operator.noPlanned')}</p>
    ) : (
      <Lines className={styles.attention}>
        {sessions.map(({ id, robot_name, scheduled_for, planned_minutes }) => (
          <li key={id}>
            <b>{timeOfDay(new Date(scheduled_for))}</b>
            <SessionLink id={id} name={robot_name} />
            <Text c="dimmed">{duration(planned_minutes)}</Text>
            <Text c="dimmed">
              <Time at={scheduled_for} />
            </Text>
          </li>
        ))}
      </Lines>
    )}
  </Panel>
)

const FreeRobots = ({ robots }: { robots: readonly FreeRobot[] }) => (
  <Panel
    title={t('home.operator.robots')}
    more={<LinkAnchor to="/available">{t('home.operator.allRobots')}</LinkAnchor>}
  >
    {robots.length === 0 ? (
      <p className={styles.none}>{t('home.operator.noRobots')}</p>
    ) : (
      <Lines className={styles.attention}>
        {robots.map(({ id, name, robot_type, battery }) => (
          <li key={id}>
            <StateSign>
              <IconRobot size={18} />
            </StateSign>
            <Box style={{ overflowWrap: 'anywhere' }}>
              <LinkAnchor to="/available/$robotId" params={{ robotId: id }} fw={600}>
                {name}
              </LinkAnchor>
              <Note>{robot_type}</Note>
            </Box>
            <Text c="dimmed">{battery !== null && percent(battery)}</Text>
          </li>
        ))}
      </Lines>
    )}
  </Panel>
)
