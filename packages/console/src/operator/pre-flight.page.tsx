import { Alert, Button, Group, List, Loader, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { ControlSchema } from '@wheelhouse/protocol'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { DescriptionItem, DescriptionList } from '../base/data-table.tsx'
import { money } from '../base/format.ts'
import { LinkButton } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { ResourcePage, Section } from '../base/section.tsx'
import { Problem } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { type ControlInput, controlPlanOf } from '../drive/control-plan.ts'
import { latencyMs } from '../drive/figure-texts.ts'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { useRobotStatuses } from '../platform/use-live.ts'
import { PreFlightRecording, recordingModeOf } from '../recording/recording-mark.tsx'
import { recordedLabel } from '../recording/recording-texts.ts'
import { RobotStatusLabel } from '../robots/robot-status.tsx'
import { percent } from '../texts/percent.ts'
import { language, t } from '../texts/texts.ts'
import { useGatewayLatency } from './gateway-latency.ts'
import { useStartNow } from './idempotent-mutation.ts'
import { InputCheck } from './input-check.tsx'
import { useAvailability } from './queries.ts'

/** Shows a robot before a session: state, notes, latency, terms and controls, and starts the session. */
export function PreFlightPage() {
  const { robotId } = useParams({ from: '/shell/available/$robotId' })
  const query = usePreFlight(robotId)
  const statuses = useRobotStatuses()
  return (
    <ResourcePage
      query={query}
      kind={t('operator.preFlight.kind')}
      back={<LinkButton to="/available">{t('operator.preFlight.back')}</LinkButton>}
    >
      {(robot) => <Checks robot={{ ...robot, status: statuses?.get(robotId)?.status ?? robot.status }} />}
    </ResourcePage>
  )
}

const Checks = ({ robot }: { robot: PreFlight }) => (
  <Page
    title={robot.name}
    description={t('operator.preFlight.description')}
    actions={
      <LinkButton to="/available" variant="default">
        {t('operator.preFlight.back')}
      </LinkButton>
    }
  >
    <Stack>
      <PreFlightRecording robot={robot} />
      <TakeTheWheel robot={robot} />
      <RobotState robot={robot} />
      {robot.may_drive && <OwnerNotes notes={robot.operator_notes} />}
      {robot.gateway_url !== null && (
        <Section title={t('operator.preFlight.latency')}>
          <LatencyCheck gatewayUrl={robot.gateway_url} limitMs={robot.latency_limit_ms} />
        </Section>
      )}
      <Section title={t('operator.preFlight.controls')}>
        <ControlSummary schema={robot.control_schema} />
        <InputCheck robotType={robot.robot_type} />
      </Section>
      <Terms robot={robot} />
    </Stack>
  </Page>
)

/** Starts a session and opens its cockpit, or says why the robot cannot be driven now. */
function TakeTheWheel({ robot }: { robot: PreFlight }) {
  const openSessionId = useAvailability().data?.open_session_id ?? undefined
  const start = useStartNow()
  const obstacle = obstacleOf(robot, openSessionId)
  return (
    <>
      <Problem error={start.error} />
      {obstacle && (
        <Alert variant="outline" title={obstacle.title}>
          <Group justify="space-between">
            <Text size="sm">{obstacle.advice}</Text>
            <NextStep robot={robot} openSessionId={openSessionId} />
          </Group>
        </Alert>
      )}
      <Group>
        <Button
          size="lg"
          disabled={obstacle !== undefined}
          loading={start.isPending}
          onClick={() => start.mutate(robot.id)}
        >
          {t('operator.preFlight.start')}
        </Button>
      </Group>
    </>
  )
}

interface Obstacle {
  readonly title: string
  readonly advice: string
}

/** Returns why the operator cannot drive the robot now. */
function obstacleOf(robot: PreFlight, openSessionId: string | undefined): Obstacle | undefined {
  if (openSessionId !== undefined)
    return { title: t('operator.obstacle.openSession'), advice: t('operator.obstacle.openSessionAdvice') }
  if (!robot.may_drive)
    return {
      title: t('operator.obstacle.notCertified'),
      advice:
        robot.certification.status === 'PENDING'
          ? t('operator.obstacle.pendingAdvice', { type: robot.robot_type })
          : t('operator.obstacle.notCertifiedAdvice', { type: robot.robot_type }),
    }
  if (robot.on_hold)
    return { title: t('operator.obstacle.onHold'), advice: t('operator.obstacle.onHoldAdvice') }
  if (robot.status === 'OFFLINE')
    return { title: t('operator.obstacle.offline'), advice: t('operator.obstacle.offlineAdvice') }
  if (robot.status === 'IN_SESSION')
    return {
      title: t('operator.obstacle.inSession'),
      advice: t('operator.obstacle.inSessionAdvice'),
    }
  return undefined
}

function NextStep({ robot, openSessionId }: { robot: PreFlight; openSessionId: string | undefined }) {
  if (openSessionId !== undefined)
    return (
      <LinkButton to="/drive/$sessionId" params={{ sessionId: openSessionId }} size="xs">
        {t('operator.preFlight.continue')}
      </LinkButton>
    )
  if (robot.may_drive) return null
  return (
    <LinkButton to="/certifications" variant="default" size="xs">
      {t('operator.preFlight.certifications')}
    </LinkButton>
  )
}

const columns = { base: 1, xs: 2, md: 4 }

/** Shows the state of the robot, and its model. There is no picture: operators see the camera in a session only. */
const RobotState = ({ robot }: { robot: PreFlight }) => (
  <Section title={t('operator.robot.title')}>
    <DescriptionList cols={columns}>
      <DescriptionItem label={t('operator.robot.state')}>
        <RobotStatusLabel status={robot.status} />
      </DescriptionItem>
      <DescriptionItem label={t('operator.robot.battery')}>
        <Battery robot={robot} />
      </DescriptionItem>
      <DescriptionItem label={t('operator.robot.lastHeartbeat')}>
        {robot.last_heartbeat ? <Time at={robot.last_heartbeat} /> : t('operator.robot.neverConnected')}
      </DescriptionItem>
      <DescriptionItem label={t('operator.robot.camera')}>
        {robot.has_camera ? t('operator.robot.hasCamera') : t('operator.robot.noCamera')}
      </DescriptionItem>
      <DescriptionItem label={t('operator.robot.type')}>{robot.robot_type}</DescriptionItem>
      {robot.model && <Model model={robot.model} />}
      {robot.tags.length > 0 && (
        <DescriptionItem label={t('operator.robot.tags')}>{robot.tags.join(' · ')}</DescriptionItem>
      )}
    </DescriptionList>
  </Section>
)

function Battery({ robot: { battery, battery_at } }: { robot: PreFlight }) {
  if (battery === null) return t('operator.robot.batteryUnknown')
  return (
    <>
      {percent(battery)}
      {battery_at && (
        <Text component="span" size="sm" c="dimmed">
          {', '}
          <Time at={battery_at} />
        </Text>
      )}
    </>
  )
}

const categoryTexts = {
  arm: t('operator.category.arm'),
  bimanual: t('operator.category.bimanual'),
  mobile_manipulator: t('operator.category.mobileManipulator'),
  mobile_base: t('operator.category.mobileBase'),
  quadruped: t('operator.category.quadruped'),
  humanoid: t('operator.category.humanoid'),
} as const

const Model = ({ model }: { model: NonNullable<PreFlight['model']> }) => (
  <>
    <DescriptionItem label={t('operator.robot.model')}>
      {t('operator.model.name', { name: model.name, manufacturer: model.manufacturer })}
    </DescriptionItem>
    <DescriptionItem label={t('operator.robot.kind')}>{categoryTexts[model.category]}</DescriptionItem>
    <DescriptionItem label={t('operator.robot.axes')}>{model.degrees_of_freedom}</DescriptionItem>
  </>
)

/** Shows the notes of the owner, as plain text. */
const OwnerNotes = ({ notes }: { notes: string | null }) => (
  <Section title={t('operator.robot.notes')} gap="xs">
    <Text c={notes ? undefined : 'dimmed'} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
      {notes ?? t('operator.robot.noNotes')}
    </Text>
  </Section>
)

/** Shows earnings, certification, ratings by the owner, and the limits under which the robot moves. */
const Terms = ({ robot }: { robot: PreFlight }) => (
  <Section title={t('operator.terms.title')}>
    <DescriptionList cols={columns}>
      <DescriptionItem label={t('operator.terms.earnings')}>
        {t('operator.terms.perMinute', { amount: money(robot.earnings_cents_per_minute) })}
      </DescriptionItem>
      <DescriptionItem label={t('operator.terms.certification')}>{certificationText(robot)}</DescriptionItem>
      <DescriptionItem label={t('operator.terms.ratings')}>{ratingText(robot)}</DescriptionItem>
      <Recorded robot={robot} />
      <DescriptionItem label={t('operator.terms.latencyLimit')}>
        {latencyMs(robot.latency_limit_ms)}
      </DescriptionItem>
      <DescriptionItem label={t('operator.terms.latencyBudget')}>
        {robot.latency_budget_ms === null
          ? t('operator.terms.noBudget')
          : t('operator.terms.budget', { latency: latencyMs(robot.latency_budget_ms) })}
      </DescriptionItem>
      <DescriptionItem label={t('operator.terms.pictureAge')}>
        {robot.video_limit_ms === null ? t('operator.terms.noLimit') : latencyMs(robot.video_limit_ms)}
      </DescriptionItem>
    </DescriptionList>
  </Section>
)

/** Says what of a session is recorded. */
function Recorded({ robot }: { robot: PreFlight }) {
  const mode = recordingModeOf(robot)
  return (
    mode && <DescriptionItem label={t('operator.terms.recording')}>{recordedLabel(mode)}</DescriptionItem>
  )
}

const certificationTexts = {
  PENDING: t('operator.terms.requiredPending'),
  APPROVED: t('operator.terms.requiredApproved'),
  REJECTED: t('operator.terms.requiredRejected'),
  REVOKED: t('operator.terms.requiredRevoked'),
} as const

function certificationText({ certification: { required, status } }: PreFlight): string {
  if (!required) return t('operator.terms.notRequired')
  return status === null ? t('operator.terms.requiredNone') : certificationTexts[status]
}

const ratings = new Intl.NumberFormat(language, { maximumFractionDigits: 1 })

const ratingText = ({ owner_rating_average: average, owner_rating_count: count }: PreFlight): string =>
  average === null
    ? t('operator.terms.noRatings')
    : t('operator.terms.rating', { average: ratings.format(average), ratings: count })

const numbers = new Intl.NumberFormat(language, { maximumFractionDigits: 2 })

/** Summarizes the commands that the robot accepts. */
function ControlSummary({ schema }: { schema: PreFlight['control_schema'] }) {
  const plan = controlPlanOf(ControlSchema.safeParse(schema).data ?? null)
  const { linearMps, angularRadps } = plan.fullSpeed
  const inputs = [...plan.speeds, ...plan.inputs]
  return (
    <Stack gap="xs">
      <Text>
        {plan.drives
          ? t('operator.controls.drives', {
              speed: numbers.format(linearMps),
              turn: numbers.format(angularRadps),
            })
          : t('operator.controls.drivesNot')}
      </Text>
      {inputs.length > 0 && (
        <>
          <Text size="sm" c="dimmed">
            {t('operator.controls.otherInputs')}
          </Text>
          <List size="sm" listStyleType="none">
            {inputs.map((input) => (
              <List.Item key={input.path.join('.')}>{inputText(input)}</List.Item>
            ))}
          </List>
        </>
      )}
    </Stack>
  )
}

/** Returns an input with its bounds, such as "Gripper, 0 to 100 %". */
function inputText({ label, field }: ControlInput): string {
  if (field.type === 'boolean') return t('operator.controls.onOrOff', { input: label })
  if (field.type === 'string') return `${label}: ${field.enum.join(', ')}`
  const { minimum, maximum, 'x-unit': unit } = field
  if (minimum === undefined || maximum === undefined) return unit ? `${label}, ${unit}` : label
  const range = { input: label, minimum: numbers.format(minimum), maximum: numbers.format(maximum) }
  return unit ? t('operator.controls.rangeWithUnit', { ...range, unit }) : t('operator.controls.range', range)
}

/** Measures the round trip from this browser to the gateway of the robot, and compares it with the limit of the robot. */
function LatencyCheck({ gatewayUrl, limitMs }: { gatewayUrl: string; limitMs: number }) {
  const { data, isFetching, isError, refetch } = useGatewayLatency(gatewayUrl)
  return (
    <Stack gap="xs">
      <Group gap="sm" mih={36}>
        <Group role="status" gap="xs">
          {isFetching && <Loader size="xs" aria-hidden />}
          <Text fw={600}>
            {isFetching && t('operator.latency.measuring')}
            {!isFetching &&
              data &&
              t('operator.latency.result', {
                median: latencyMs(data.medianMs),
                slowest: latencyMs(data.slowestMs),
              })}
            {!isFetching && isError && t('operator.latency.noResponse')}
          </Text>
        </Group>
        <Button variant="default" size="xs" disabled={isFetching} onClick={() => void refetch()}>
          {t('operator.latency.again')}
        </Button>
      </Group>
      {!isFetching && data && data.medianMs >= limitMs && (
        <Text size="sm" role="alert">
          {t('operator.latency.aboveLimit', { limit: latencyMs(limitMs) })}
        </Text>
      )}
      <Text size="sm" c="dimmed">
        {t('operator.latency.note')}
      </Text>
    </Stack>
  )
}

type PreFlight = Schemas['PreFlight']

/** Events announce status changes, but no batteries and heartbeats. */
const POLL_MS = 5_000

/** Queries a robot as an operator sees it before a session. */
function usePreFlight(robotId: string) {
  const { rest } = usePlatform()
  return useQuery({
    queryKey: [...keys.robots, 'pre-flight', robotId],
    queryFn: ({ signal }) =>
      answerOf(rest.GET('/api/operator/robots/{id}', { params: { path: { id: robotId } }, signal })),
    refetchInterval: POLL_MS,
  })
}
