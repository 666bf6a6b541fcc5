import {
  Alert,
  Button,
  Card,
  Group,
  Modal,
  NumberInput,
  Radio,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { createContext, type ReactNode, useContext, useMemo, useState } from 'react'
import { DialogButtons, Form } from '../base/form.tsx'
import { dateTime, money, relative, timeOfDay, viewerZone } from '../base/format.ts'
import { LinkAnchor, LinkButton } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { Empty, Note, Problem } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { latencyMs } from '../drive/figure-texts.ts'
import { DataList } from '../list/data-list.tsx'
import type { ListRows } from '../list/list-pages.ts'
import { type ListColumn, optionsOf } from '../list/list-types.ts'
import { useRobotStatuses } from '../platform/use-live.ts'
import { useSession } from '../session/session-query.ts'
import { RobotStateLabel } from '../status/live-robots.tsx'
import { SessionStatusLabel } from '../status/session-status.tsx'
import { percent } from '../texts/percent.ts'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import { AvailabilityLine } from './availability-line.tsx'
import { useDriveNow, useScheduleSession } from './idempotent-mutation.ts'
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
      {scheduling && <ScheduleSession robot={scheduling} onClose={() => setScheduling(undefined)} />}
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
      <TwoLines
        detail={t('operator.available.typeAndOwner', { type: model ?? robot_type, owner: owner_name })}
      >
        <LinkAnchor to="/available/$robotId" params={{ robotId: id }} fw={600} maw="100%" truncate>
          {name}
        </LinkAnchor>
      </TwoLines>
    </Group>
  )
}

const TwoLines = ({ detail, children }: { detail: string | false; children: ReactNode }) => (
  <Stack gap={0} align="flex-start" miw={0} lh={1.35}>
    {children}
    {detail && (
      <Note maw="100%" lh={1.35} truncate>
        {detail}
      </Note>
    )}
  </Stack>
)

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
    <TwoLines detail={status === 'IN_SESSION' && detail}>
      <RobotStateLabel state={robotStates[status]} />
    </TwoLines>
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
  const { data: session, error } = useSession(sessionId)
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

const DAY_MS = 86_400_000

const twoDigits = (value: number) => String(value).padStart(2, '0')

/** Returns an instant as a `datetime-local` field shows it in the viewer's zone: `2026-11-25T10:30`. */
const toWallTime = (at: Date): string =>
  new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)

/**
 * Returns the instants of a local time in the viewer's zone: usually one, none if clocks skip that time, two (the
 * earlier first) if it occurs twice.
 */
function instantsOf(wall: string): Date[] {
  const parts = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)/.exec(wall)?.slice(1).map(Number)
  if (!parts) return []
  const [year, month, day, hour, minute] = parts as [number, number, number, number, number]
  const utcMs = Date.UTC(year, month - 1, day, hour, minute)
  const offsets = [-DAY_MS, DAY_MS].map((ms) => new Date(utcMs + ms).getTimezoneOffset())
  return [...new Set(offsets)]
    .map((offset) => new Date(utcMs + offset * 60_000))
    .filter((at) => toWallTime(at) === wall.slice(0, 16))
    .sort((a, b) => a.getTime() - b.getTime())
}

/** Returns the offset of the viewer's zone at an instant: `UTC+01:00`. */
function offsetAt(at: Date): string {
  const minutes = -at.getTimezoneOffset()
  const size = Math.abs(minutes)
  return `UTC${minutes < 0 ? '−' : '+'}${twoDigits(Math.floor(size / 60))}:${twoDigits(size % 60)}`
}

const HOUR_MS = 3_600_000
/** How far ahead the platform accepts scheduled sessions. */
const MAX_AHEAD_DAYS = 90
const MAX_AHEAD_MS = MAX_AHEAD_DAYS * 24 * HOUR_MS
const MAX_MINUTES = 1_440

/** Schedules a session at a local time of the viewer. */
function ScheduleSession({ robot, onClose }: { robot: AvailableRobot; onClose: () => void }) {
  const [wall, setWall] = useState(() => toWallTime(nextFullHour()))
  const [later, setLater] = useState(false)
  const [minutes, setMinutes] = useState<number | string>(60)
  const schedule = useScheduleSession()
  const instants = instantsOf(wall)
  const at = instants.length > 1 && later ? instants[1] : instants[0]
  const problem = problemOf(wall, at)
  const plannedMinutes = typeof minutes === 'number' ? minutes : undefined
  const submit = () => {
    if (!at || problem || plannedMinutes === undefined) return
    schedule.mutate({ robotId: robot.id, scheduledFor: at.toISOString(), plannedMinutes })
  }
  return (
    <Modal opened onClose={onClose} title={t('operator.scheduling.title', { robot: robot.name })}>
      {schedule.data && at ? (
        <Scheduled at={at} sessionId={schedule.data.sessionId} onClose={onClose} />
      ) : (
        <Form onSubmit={submit} noValidate>
          <TextInput
            type="datetime-local"
            label={t('operator.scheduling.time')}
            description={t('operator.scheduling.timeNote', { zone: viewerZone(), days: MAX_AHEAD_DAYS })}
            required
            data-autofocus
            min={toWallTime(new Date())}
            max={toWallTime(new Date(Date.now() + MAX_AHEAD_MS))}
            value={wall}
            error={problem}
            onChange={(event) => setWall(event.currentTarget.value)}
          />
          {instants.length > 1 && (
            <AmbiguousTimeChoice instants={instants} later={later} onChange={setLater} />
          )}
          <NumberInput
            label={t('operator.scheduling.duration')}
            description={t('operator.scheduling.durationNote')}
            required
            min={1}
            max={MAX_MINUTES}
            allowDecimal={false}
            value={minutes}
            error={plannedMinutes === undefined ? t('operator.scheduling.noDuration') : undefined}
            onChange={setMinutes}
          />
          <Text size="sm" role="status">
            {at && !problem ? chosenText(at) : ''}
          </Text>
          <Problem error={schedule.error} />
          <DialogButtons onCancel={onClose} loading={schedule.isPending}>
            {t('operator.scheduling.schedule')}
          </DialogButtons>
        </Form>
      )}
    </Modal>
  )
}

const Scheduled = ({ at, sessionId, onClose }: { at: Date; sessionId: string; onClose: () => void }) => (
  <Stack>
    <Alert color="teal" title={t('operator.scheduling.scheduled')} role="status">
      {t('operator.scheduling.scheduledText', { time: dateTime(at) })}
    </Alert>
    <Group justify="flex-end">
      <LinkButton variant="default" to="/sessions/$sessionId" params={{ sessionId }}>
        {t('operator.scheduling.viewSession')}
      </LinkButton>
      <Button onClick={onClose} autoFocus>
        {t('operator.scheduling.done')}
      </Button>
    </Group>
  </Stack>
)

const AmbiguousTimeChoice = (props: {
  instants: readonly Date[]
  later: boolean
  onChange: (later: boolean) => void
}) => (
  <Radio.Group
    label={t('operator.scheduling.twice')}
    value={props.later ? 'later' : 'earlier'}
    onChange={(value) => props.onChange(value === 'later')}
  >
    <Stack gap="xs" mt="xs">
      {props.instants.map((at, index) => (
        <Radio
          key={at.getTime()}
          value={index === 0 ? 'earlier' : 'later'}
          label={t(index === 0 ? 'operator.scheduling.first' : 'operator.scheduling.second', {
            offset: offsetAt(at),
          })}
        />
      ))}
    </Stack>
  </Radio.Group>
)

function problemOf(wall: string, at: Date | undefined): string | undefined {
  if (wall === '') return t('operator.scheduling.noTime')
  if (!at) return t('operator.scheduling.skipped')
  const aheadMs = at.getTime() - Date.now()
  if (aheadMs <= 0) return t('operator.scheduling.past')
  if (aheadMs > MAX_AHEAD_MS) return t('operator.scheduling.tooFar', { days: MAX_AHEAD_DAYS })
  return undefined
}

const chosenText = (at: Date): string =>
  t('operator.scheduling.chosen', { time: dateTime(at), offset: offsetAt(at), relative: relative(at) })

const nextFullHour = () => new Date((Math.floor(Date.now() / HOUR_MS) + 2) * HOUR_MS)
