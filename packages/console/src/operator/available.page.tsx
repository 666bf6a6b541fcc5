import { Button, Card, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { answerOf } from '@wheelhouse/sdk'
import { createContext, lazy, Suspense, useContext, useMemo, useState } from 'react'
import { LinkAnchor, LinkButton } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { Empty, Problem } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { DataList } from '../list/data-list.tsx'
import { type ListColumn, optionsOf } from '../list/list-types.ts'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { useRobotStatuses } from '../platform/use-live.ts'
import { StateLabel } from '../status/state-label.tsx'
import { sessionStatusTexts } from '../texts/code-texts.ts'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import { AvailabilityLine } from './availability-line.tsx'
import { useStartNow } from './idempotent-mutation.ts'
import { type AvailableSearch, readAvailableSearch } from './list-search.ts'
import {
  type AvailableRobot,
  useAvailability,
  useAvailableCounts,
  useAvailableRobots,
  useCertifications,
  useModelName,
} from './queries.ts'

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
  const list = useAvailableRobots(search)
  const { data: counts } = useAvailableCounts(search)
  // Subscribes even while the list is empty, so that the first robot appears.
  useRobotStatuses()
  const start = useStartNow()
  const [selected, setSelected] = useState<AvailableRobot>()
  const [scheduling, setScheduling] = useState<AvailableRobot>()
  const busy = useAvailability().data?.open_session_id != null
  const startingId = start.isPending ? selected?.id : undefined
  const { mutate } = start
  const actions = useMemo(
    () => ({
      busy,
      startingId,
      onSchedule: setScheduling,
      onStart: (robot: AvailableRobot) => {
        setSelected(robot)
        mutate(robot.id)
      },
    }),
    [busy, startingId, mutate],
  )
  const go = (next: AvailableSearch) => void navigate({ search: next, resetScroll: false, replace: true })
  return (
    <Stack>
      {start.error && selected && (
        <Text fw={600}>{t('operator.available.notStarted', { robot: selected.name })}</Text>
      )}
      <Problem error={start.error} />
      {busy && (
        <Text size="sm" c="dimmed">
          {t('operator.available.busy')}
        </Text>
      )}
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
          rowProps={() => ({ 'data-testid': 'robot-row' })}
        />
      </RobotActionsContext>
      <Suspense>
        {scheduling && <ScheduleSession robot={scheduling} onClose={() => setScheduling(undefined)} />}
      </Suspense>
    </Stack>
  )
}

/** Explains an empty list and how to get access to robots. */
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
  {
    header: t('operator.available.name'),
    width: 'minmax(0, 2fr)',
    sort: 'name',
    card: 'title',
    cell: ({ id, name }) => (
      <LinkAnchor to="/available/$robotId" params={{ robotId: id }} fw={600}>
        {name}
      </LinkAnchor>
    ),
  },
  {
    header: t('operator.available.type'),
    width: 'minmax(0, 2fr)',
    cell: ({ robot_type }) => <ModelName robotType={robot_type} />,
  },
  {
    header: t('operator.available.status'),
    width: '7.5rem',
    card: 'end',
    cell: (robot) => <LiveStatus robot={robot} />,
  },
  {
    header: t('operator.available.lastHeartbeat'),
    width: '9rem',
    from: 'lg',
    cell: (robot) => <LastHeartbeat robot={robot} />,
  },
  {
    header: t('operator.available.tags'),
    width: 'minmax(0, 1fr)',
    from: 'lg',
    card: 'none',
    cell: ({ tags }) => tags.join(' · '),
  },
  {
    header: t('operator.available.actions'),
    width: '12rem',
    card: 'buttons',
    cell: (robot) => <Actions robot={robot} />,
  },
]

function ModelName({ robotType }: { robotType: string }) {
  const model = useModelName(robotType)
  return model ? `${model} (${robotType})` : robotType
}

const shownAs = {
  AVAILABLE: { label: t('operator.available.free'), shape: 'off', tone: 'live' },
  IN_SESSION: { label: t('operator.available.inSession'), shape: 'live', tone: 'delayed' },
  OFFLINE: { label: t('operator.available.offline'), shape: 'off', tone: 'off' },
} as const

/** Returns the newest known status of a robot: that of the hub, else that of the list. */
const useLiveStatus = (robot: AvailableRobot) => useRobotStatuses()?.get(robot.id) ?? robot

function LiveStatus({ robot }: { robot: AvailableRobot }) {
  const { label, ...look } = shownAs[useLiveStatus(robot).status]
  return <StateLabel {...look}>{label}</StateLabel>
}

function LastHeartbeat({ robot }: { robot: AvailableRobot }) {
  const live = useLiveStatus(robot).last_heartbeat
  const at = [robot.last_heartbeat ?? '', live ?? ''].sort().at(-1)
  return at ? <Time at={at} /> : t('operator.available.noHeartbeat')
}

function Actions({ robot }: { robot: AvailableRobot }) {
  const { busy, startingId, onStart, onSchedule } = useContext(RobotActionsContext)
  const free = useLiveStatus(robot).status === 'AVAILABLE'
  return (
    <Group gap="xs" wrap="nowrap">
      <Button
        size="compact-xs"
        aria-label={t('operator.available.driveLabel', { robot: robot.name })}
        disabled={!free || busy}
        loading={robot.id === startingId}
        onClick={() => onStart(robot)}
      >
        {t('operator.available.drive')}
      </Button>
      <Button
        size="compact-xs"
        variant="default"
        aria-label={t('operator.available.scheduleLabel', { robot: robot.name })}
        disabled={!free}
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
  const { rest } = usePlatform()
  const { data: session, error } = useQuery({
    queryKey: [...keys.sessions, sessionId],
    queryFn: () => answerOf(rest.GET('/api/sessions/{id}', { params: { path: { id: sessionId } } })),
  })
  return (
    <Card withBorder component="section" aria-label={t('operator.openSession.label')}>
      <Group justify="space-between">
        <Stack gap={4}>
          <Group gap="xs">
            <Title order={2}>
              {session
                ? t('operator.openSession.title', { robot: session.robot_name })
                : t('operator.openSession.session')}
            </Title>
            {session && (
              <StateLabel shape={session.status === 'ACTIVE' ? 'live' : 'delayed'}>
                {session.status === 'ACTIVE' ? sessionStatusTexts.ACTIVE : sessionStatusTexts.PAUSED}
              </StateLabel>
            )}
          </Group>
          {session?.started_at && (
            <Text c="dimmed" size="sm">
              {textParts('operator.openSession.started', { time: <Time at={session.started_at} /> })}
            </Text>
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
