import { Button, Card, Group, Stack, Text, Title } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { createContext, lazy, Suspense, useContext, useMemo, useState } from 'react'
import { money, timeOfDay } from '../base/format.ts'
import { LinkAnchor, LinkButton } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { Empty, Note, Problem } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { latencyMs } from '../drive/figure-texts.ts'
import { DataList } from '../list/data-list.tsx'
import type { ListRows } from '../list/list-pages.ts'
import { type ListColumn, optionsOf } from '../list/list-types.ts'
import { keys } from '../platform/queries.ts'
import { useRead } from '../platform/rest.ts'
import { useRobotStatuses } from '../platform/use-live.ts'
import { RobotStateLabel } from '../status/live-robots.tsx'
import { SessionStatusLabel } from '../status/session-status.tsx'
import { percent } from '../texts/percent.ts'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import { AvailabilityLine } from './availability-line.tsx'
import { useDriveNow } from './idempotent-mutation.ts'
import styles from './operator.module.css'
import {
  type AvailableRobot,
  type AvailableSearch,
  readAvailableSearch,
  useAvailability,
  useAvailableCounts,
  useAvailableRobots,
  useBusyRobots,
  useCertifications,
  useGatewayLatency,
  useModelName,
} from './queries.ts'
import { RobotDrawing } from './robot-drawing.tsx'

/** Shows the operator's open session, availability and the available robots. */
export function AvailablePage() {
  return (
    <Page title={t('operator.available.title')} description={t('operator.available.description')}>
      <Stack>
        <OpenSession />
        <AvailabilityLine>
          <LinkAnchor to="/schedule" underline="always">
            {t('operator.available.viewSchedule')}
          </LinkAnchor>
        </AvailabilityLine>
        <AvailableRobots />
      </Stack>
    </Page>
  )
}

const ScheduleSession = lazy(() => import('./schedule-session.tsx'))

/** Lists the available robots live. An open dialog stays when its robot leaves the list. */
function AvailableRobots() {
  const search = useSearch({ from: '/shell/available' })
  const navigate = useNavigate({ from: '/available' })
  const available = useAvailableRobots(search)
  const inSession = useBusyRobots(search).data
  const list = useMemo(() => withBusy(available, inSession), [available, inSession])
  const { data: counts } = useAvailableCounts(search)
  // Subscribes even while the list is empty, so that the first robot appears.
  useRobotStatuses()
  const start = useDriveNow()
  const [selected, setSelected] = useState<AvailableRobot>()
  const [scheduling, setScheduling] = useState<AvailableRobot>()
  const busy = useAvailability().data?.open_session_id != null
  const startingId = start.isPending ? selected?.id : undefined
  const { drive } = start
  const actions = useMemo(
    () => ({
      busy,
      startingId,
      onSchedule: setScheduling,
      onStart: (robot: AvailableRobot) => {
        setSelected(robot)
        drive(robot.id)
      },
    }),
    [busy, startingId, drive],
  )
  const go = (next: AvailableSearch) => void navigate({ search: next, resetScroll: false, replace: true })
  return (
    <Stack>
      {start.error && selected && (
        <Text fw={600}>{t('operator.available.notStarted', { robot: selected.name })}</Text>
      )}
      <Problem error={start.error} />
      {busy && <Note>{t('operator.available.busy')}</Note>}
      <RobotActionsContext value={actions}>
        <DataList
          label={t('operator.available.label')}
          name="available-robots"
          columns={availableColumns}
          list={list}
          search={search}
          readSearch={readAvailableSearch}
          onSearch={go}
          searchHint={t('operator.available.searchHint')}
          filters={[
            {
              name: 'type',
              label: t('operator.available.type'),
              options: optionsOf(
                counts?.by_type.map(({ robot_type, count }) => ({ value: robot_type, count })),
                search.type,
              ),
            },
          ]}
          empty={<NoRobotsNotice />}
          isTall
          rowProps={() => ({ 'data-testid': 'robot-row' })}
        />
      </RobotActionsContext>
      <Suspense>
        {scheduling && <ScheduleSession robot={scheduling} onClose={() => setScheduling(undefined)} />}
      </Suspense>
    </Stack>
  )
}

function withBusy(
  available: ListRows<AvailableRobot>,
  busy: readonly AvailableRobot[] = [],
): ListRows<AvailableRobot> {
  const { rows, hasMore } = available
  if (rows === undefined || hasMore) return available
  const free = new Set(rows.map(({ id }) => id))
  return { ...available, rows: [...rows, ...busy.filter(({ id }) => !free.has(id))] }
}

function NoRobotsNotice() {
  const { data } = useCertifications()
  const certifications = data?.certifications
  if (certifications?.some(({ status }) => status === 'APPROVED')) {
    return <Empty title={t('operator.available.emptyTitle')}>{t('operator.available.emptyText')}</Empty>
  }
  const pending = certifications?.some(({ status }) => status === 'PENDING')
  return (
    <Empty
      title={pending ? t('operator.available.pendingTitle') : t('operator.available.notCertifiedTitle')}
      action={
        <LinkButton to="/certifications" variant={pending ? 'default' : 'filled'}>
          {pending
            ? t('operator.available.viewCertifications')
            : t('operator.available.requestCertification')}
        </LinkButton>
      }
    >
      {pending ? t('operator.available.pendingText') : t('operator.available.notCertifiedText')}
    </Empty>
  )
}

/** Starts and schedules sessions on the listed robots. */
interface RobotActions {
  /** Whether the operator has an open session. */
  readonly busy: boolean
  readonly startingId: string | undefined
  readonly onStart: (robot: AvailableRobot) => void
  readonly onSchedule: (robot: AvailableRobot) => void
}

const nothing = () => undefined

const RobotActionsContext = createContext<RobotActions>({
  busy: true,
  startingId: undefined,
  onStart: nothing,
  onSchedule: nothing,
})

/** The columns of the list of available robots. */
const availableColumns: readonly ListColumn<AvailableRobot>[] = [
  [
    t('operator.available.name'),
    'minmax(11rem, 3fr)',
    (robot) => <NameCell robot={robot} />,
    { sort: 'name', card: 'title' },
  ],
  [
    t('operator.available.status'),
    'minmax(8rem, 1fr)',
    (robot) => <StatusCell robot={robot} />,
    { card: 'end' },
  ],
  [t('operator.available.latency'), '5.5rem', (robot) => <LatencyCell robot={robot} />, { from: 'lg' }],
  [t('operator.available.battery'), '5rem', ({ battery }) => (battery === null ? '–' : percent(battery))],
  [
    t('operator.available.pay'),
    '7rem',
    (robot) => t('operator.available.perMinute', { amount: money(robot.earnings_cents_per_minute) }),
  ],
  [
    t('operator.available.tags'),
    'minmax(0, 1fr)',
    ({ tags }) => tags.join(' · '),
    { from: 'xl', card: 'none' },
  ],
  [t('operator.available.actions'), '13rem', (robot) => <Actions robot={robot} />, { card: 'buttons' }],
]

function NameCell({ robot: { id, name, robot_type, owner_name } }: { robot: AvailableRobot }) {
  const model = useModelName(robot_type)
  return (
    <Group gap="sm" wrap="nowrap">
      <RobotDrawing />
      <div className={styles.twoLines}>
        <LinkAnchor to="/available/$robotId" params={{ robotId: id }} fw={600}>
          {name}
        </LinkAnchor>
        <Text span size="sm" c="dimmed">
          {t('operator.available.typeAndOwner', { type: model ?? robot_type, owner: owner_name })}
        </Text>
      </div>
    </Group>
  )
}

/** Returns the newest known status of a robot: that of the hub, else that of the list. */
const useLiveStatus = ({ id, status }: AvailableRobot) => useRobotStatuses()?.get(id)?.status ?? status

function StatusCell({ robot }: { robot: AvailableRobot }) {
  const status = useLiveStatus(robot)
  const { free_at, busy_since } = robot
  const detail =
    free_at !== null && Date.parse(free_at) > Date.now()
      ? t('operator.available.freeAt', { time: timeOfDay(new Date(free_at)) })
      : busy_since !== null && t('operator.available.since', { time: timeOfDay(new Date(busy_since)) })
  return (
    <div className={styles.twoLines}>
      <RobotStateLabel state={robotStates[status]} />
      {status === 'IN_SESSION' && detail && (
        <Text span size="sm" c="dimmed">
          {detail}
        </Text>
      )}
    </div>
  )
}

/** What operators see of a robot's state: of a session of others only that there is one. */
const robotStates = { AVAILABLE: 'READY', IN_SESSION: 'DRIVING', OFFLINE: 'OFFLINE' } as const

function LatencyCell({ robot }: { robot: AvailableRobot }) {
  const { data } = useGatewayLatency(robot.gateway_url)
  return <span title={t('operator.latency.short')}>{data ? latencyMs(data.medianMs) : '–'}</span>
}

function Actions({ robot }: { robot: AvailableRobot }) {
  const { busy, startingId, onStart, onSchedule } = useContext(RobotActionsContext)
  const isFree = useLiveStatus(robot) === 'AVAILABLE'
  return (
    <Group gap="xs" wrap="nowrap">
      <Button
        size="xs"
        aria-label={t('operator.available.driveLabel', { robot: robot.name })}
        disabled={!isFree || busy}
        loading={robot.id === startingId}
        onClick={() => onStart(robot)}
      >
        {t('operator.available.drive')}
      </Button>
      <Button
        size="xs"
        variant="default"
        aria-label={t('operator.available.scheduleLabel', { robot: robot.name })}
        disabled={!isFree}
        onClick={() => onSchedule(robot)}
      >
        {t('operator.available.schedule')}
      </Button>
    </Group>
  )
}

/** Shows the operator's open session. It blocks the start of another one. */
function OpenSession() {
  const id = useAvailability().data?.open_session_id
  return id ? <Running sessionId={id} /> : null
}

function Running({ sessionId }: { sessionId: string }) {
  const { data: session, error } = useRead([...keys.sessions, sessionId], (rest) =>
    rest.GET('/api/sessions/{id}', { params: { path: { id: sessionId } } }),
  )
  return (
    <Card component="section" aria-label={t('operator.openSession.label')}>
      <Group justify="space-between">
        <Stack gap={4}>
          <Group gap="xs">
            <Title order={2}>
              {session
                ? t('operator.openSession.title', { robot: session.robot_name })
                : t('operator.openSession.session')}
            </Title>
            {session && <SessionStatusLabel status={session.status} />}
          </Group>
          {session?.started_at && (
            <Note>
              {textParts('operator.openSession.started', { time: <Time at={session.started_at} /> })}
            </Note>
          )}
          <Problem error={error} />
        </Stack>
        <LinkButton to="/drive/$sessionId" params={{ sessionId }}>
          {t('operator.openSession.continue')}
        </LinkButton>
      </Group>
    </Card>
  )
}
