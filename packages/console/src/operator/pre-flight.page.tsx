import { Alert, Anchor, Box, Button, Group, List, SimpleGrid, Stack, Text } from '@mantine/core'
import { useWindowEvent } from '@mantine/hooks'
import { useParams } from '@tanstack/react-router'
import { ControlSchema } from '@wheelhouse/protocol'
import type { Schemas } from '@wheelhouse/sdk'
import { type ReactNode, useEffect, useState } from 'react'
import { DescriptionList, wrapped } from '../base/data-table.tsx'
import { money, shortList } from '../base/format.ts'
import { IconSteeringWheel } from '../base/icons.tsx'
import { isTyping } from '../base/keys.ts'
import { LinkButton } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { Lines, ResourcePage, Section } from '../base/section.tsx'
import { Note, Problem } from '../base/states.tsx'
import { createStore, useStore } from '../base/store.ts'
import { Time } from '../base/time.tsx'
import { type Axes, atRest, type ControlInput, controlPlanOf, isAtRest } from '../drive/control-plan.ts'
import { latencyMs } from '../drive/figure-texts.ts'
import { createGamepadInput } from '../drive/gamepad.ts'
import { driveKeyOf } from '../drive/keyboard.ts'
import { PadPicture } from '../drive/pad-picture.tsx'
import { loadControlProfile } from '../drive/preferences.ts'
import { keys } from '../platform/queries.ts'
import { useRead } from '../platform/rest.ts'
import { useRobotStatuses } from '../platform/use-live.ts'
import { recordingModeOf } from '../recording/recording-mark.tsx'
import { recordedText } from '../recording/recording-texts.ts'
import { RobotStatusLabel } from '../robots/robot-status.tsx'
import type { ShapeName } from '../status/shape-name.ts'
import { StateLabel } from '../status/state-label.tsx'
import { percent } from '../texts/percent.ts'
import { language, t } from '../texts/texts.ts'
import { markPassed, useStartNow } from './idempotent-mutation.ts'
import { useAvailability, useGatewayLatency } from './queries.ts'
import { RobotHero } from './robot-drawing.tsx'

/** Shows a robot before a session, with what an operator checks at one glance, and starts the session. */
export function PreFlightPage() {
  const { robotId } = useParams({ from: '/shell/available/$robotId' })
  const query = useRead(
    [...keys.robots, 'pre-flight', robotId],
    (rest, { signal }) =>
      rest.GET('/api/operator/robots/{id}', { params: { path: { id: robotId } }, signal }),
    { refetchInterval: POLL_MS },
  )
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
    link={['/available', t('operator.preFlight.back')]}
  >
    <SimpleGrid minColWidth="min(100%, 26rem)" autoFlow="auto-fit" spacing="lg">
      <Stack>
        <Hero robot={robot} />
        {robot.may_drive && robot.operator_notes && (
          <Section title={t('operator.robot.notes')} gap="xs">
            <Text style={wrapped}>{robot.operator_notes}</Text>
          </Section>
        )}
      </Stack>
      <Section title={t('operator.preFlight.checks')} gap="xs">
        <Lines>
          {robot.gateway_url !== null && <LatencyCheck robot={robot} gatewayUrl={robot.gateway_url} />}
          <BatteryCheck robot={robot} />
          <Check shape={robot.has_camera ? 'live' : 'off'} label={t('operator.robot.camera')}>
            {robot.has_camera ? t('operator.robot.hasCamera') : t('operator.robot.noCamera')}
          </Check>
          <RecordingCheck robot={robot} />
          {/* The operator tries keys and gamepad. Nothing is sent. */}
          <KeyboardCheck />
          <GamepadCheck robotType={robot.robot_type} />
        </Lines>
        <details>
          <summary>{t('operator.preFlight.details')}</summary>
          <Stack pt="sm">
            <ControlSummary schema={robot.control_schema} />
            <Note>{t('operator.latency.note')}</Note>
            <Terms robot={robot} />
          </Stack>
        </details>
      </Section>
    </SimpleGrid>
  </Page>
)

/** Shows the robot large, with its state, what a drive earns, and the start of a session or why it cannot start. */
function Hero({ robot }: { robot: PreFlight }) {
  const openSessionId = useAvailability().data?.open_session_id ?? undefined
  const start = useStartNow()
  const obstacle = obstacleOf(robot, openSessionId)
  const drive = () => {
    markPassed(robot.id)
    start.mutate(robot.id)
  }
  return (
    <>
      <Problem error={start.error} />
      {obstacle && (
        <Alert title={obstacle[0]} flex="none">
          <Group justify="space-between">
            <Text size="sm">{obstacle[1]}</Text>
            <NextStep robot={robot} openSessionId={openSessionId} />
          </Group>
        </Alert>
      )}
      <RobotHero>
        <Box pos="absolute" top="1.5rem" left="1.5rem">
          <RobotStatusLabel status={robot.status} isOnPicture />
        </Box>
        <Group
          pos="absolute"
          justify="space-between"
          align="flex-end"
          c="var(--mantine-color-text)"
          style={{ inset: 'auto 1.5rem 1.5rem' }}
        >
          <div>
            <Text size="xl" fw={650}>
              {t('operator.terms.perMinute', { amount: money(robot.earnings_cents_per_minute) })}
            </Text>
            <Text c="dimmed">
              {t('operator.available.typeAndOwner', { type: robot.robot_type, owner: robot.owner_name })}
            </Text>
          </div>
          <Button
            size="lg"
            leftSection={<IconSteeringWheel size={20} />}
            disabled={obstacle !== undefined}
            loading={start.isPending}
            onClick={drive}
          >
            {t('operator.available.drive')}
          </Button>
        </Group>
      </RobotHero>
    </>
  )
}

/** Returns why the operator cannot drive the robot now, and what to do. */
function obstacleOf(robot: PreFlight, openSessionId: string | undefined) {
  const type = robot.robot_type
  if (openSessionId !== undefined)
    return [t('operator.obstacle.openSession'), t('operator.obstacle.openSessionAdvice')]
  if (!robot.may_drive)
    return [
      t('operator.obstacle.notCertified'),
      robot.certification.status === 'PENDING'
        ? t('operator.obstacle.pendingAdvice', { type })
        : t('operator.obstacle.notCertifiedAdvice', { type }),
    ]
  if (robot.on_hold) return [t('operator.obstacle.onHold'), t('operator.obstacle.onHoldAdvice')]
  if (robot.status === 'OFFLINE')
    return [t('operator.obstacle.offline'), t('operator.obstacle.offlineAdvice')]
  if (robot.status === 'IN_SESSION')
    return [t('operator.obstacle.inSession'), t('operator.obstacle.inSessionAdvice')]
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

/** Below these charges an operator should know it before a drive. */
const [LOW_BATTERY, HALF_BATTERY] = [0.2, 0.5]

function BatteryCheck({ robot: { battery, battery_at } }: { robot: PreFlight }) {
  const label = t('operator.robot.battery')
  if (battery === null) return <Check shape="off" label={label} figure="–" />
  const isLow = battery < LOW_BATTERY
  return (
    <Check shape={isLow ? 'delayed' : 'live'} label={label} figure={percent(battery)}>
      {isLow
        ? t('operator.preFlight.batteryLow')
        : battery < HALF_BATTERY
          ? t('operator.preFlight.batteryHalf')
          : battery_at && <Time at={battery_at} />}
    </Check>
  )
}

function RecordingCheck({ robot }: { robot: PreFlight }) {
  const mode = recordingModeOf(robot)
  if (mode === undefined) return null
  if (mode === 'off')
    return (
      <Check shape="off" label={t('operator.terms.recording')}>
        {t('operator.preFlight.notRecorded')}
      </Check>
    )
  return (
    <Check shape="request" label={t('recording.preFlight.title', { what: recordedText(mode) })}>
      {t('recording.preFlight.text')}
    </Check>
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

const Terms = ({ robot }: { robot: PreFlight }) => (
  <DescriptionList
    cols={{ base: 1, xs: 2 }}
    items={{
      [t('operator.terms.certification')]: certificationText(robot),
      [t('operator.terms.ratings')]: ratingText(robot),
      [t('operator.terms.latencyLimit')]: latencyMs(robot.latency_limit_ms),
      [t('operator.terms.latencyBudget')]:
        robot.latency_budget_ms === null
          ? t('operator.terms.noBudget')
          : t('operator.terms.budget', { latency: latencyMs(robot.latency_budget_ms) }),
      [t('operator.terms.pictureAge')]:
        robot.video_limit_ms === null ? t('operator.terms.noLimit') : latencyMs(robot.video_limit_ms),
      ...(robot.model && {
        [t('operator.robot.model')]: t('operator.model.name', {
          name: robot.model.name,
          manufacturer: robot.model.manufacturer,
        }),
        [t('operator.robot.kind')]: categoryTexts[robot.model.category],
        [t('operator.robot.axes')]: robot.model.degrees_of_freedom,
      }),
      ...(robot.tags.length > 0 && { [t('operator.robot.tags')]: robot.tags.join(' · ') }),
    }}
  />
)

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
          <Note>{t('operator.controls.otherInputs')}</Note>
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

/** Measures the round trip from this browser to the gateway of the robot, and says what it means for the drive. */
function LatencyCheck({ robot, gatewayUrl }: { robot: PreFlight; gatewayUrl: string }) {
  const { data, isFetching, isError, refetch } = useGatewayLatency(gatewayUrl)
  const { latency_limit_ms: limitMs, latency_budget_ms: budgetMs } = robot
  const medianMs = isFetching ? undefined : data?.medianMs
  const isAbove = medianMs !== undefined && medianMs >= limitMs
  const isSlow = medianMs !== undefined && budgetMs !== null && medianMs >= budgetMs
  const shape = medianMs === undefined ? 'off' : isAbove ? 'blind' : isSlow ? 'delayed' : 'live'
  return (
    <Check
      shape={shape}
      label={t('operator.preFlight.latency')}
      figure={
        <Text span fz="2.75rem" lh={1.1} lts="-0.035em">
          {medianMs === undefined ? '–' : latencyMs(medianMs)}
        </Text>
      }
    >
      <span role="status">
        {isFetching && t('operator.latency.measuring')}
        {!isFetching && isError && t('operator.latency.noResponse')}
        {medianMs !== undefined && !isAbove && !isSlow && t('operator.latency.good')}
        {isSlow && !isAbove && t('operator.latency.slow', { budget: latencyMs(budgetMs) })}
      </span>
      {isAbove && <span role="alert">{t('operator.latency.aboveLimit', { limit: latencyMs(limitMs) })}</span>}{' '}
      {data && !isFetching && t('operator.latency.slowest', { slowest: latencyMs(data.slowestMs) })}{' '}
      <Anchor
        component="button"
        size="sm"
        underline="always"
        disabled={isFetching}
        onClick={() => void refetch()}
      >
        {t('operator.latency.again')}
      </Anchor>
    </Check>
  )
}

type PreFlight = Schemas['PreFlight']

/** Events announce status changes, but no batteries and heartbeats. */
const POLL_MS = 5_000

const words: readonly (readonly [keyof Axes, sign: number, word: string])[] = [
  ['forward', 1, t('operator.inputCheck.forward')],
  ['forward', -1, t('operator.inputCheck.backward')],
  ['left', 1, t('operator.inputCheck.left')],
  ['left', -1, t('operator.inputCheck.right')],
]

/** Returns a direction in words, such as "forward, left". */
const directionText = (axes: Axes): string =>
  shortList.format(words.filter(([axis, sign]) => Math.sign(axes[axis]) === sign).map(([, , word]) => word))

/** A line of the checks before a drive: state, name, what it means, and a figure. */
const Check = (props: { shape: ShapeName; label: string; figure?: ReactNode; children?: ReactNode }) => (
  <Group component="li" gap="sm" py="0.5rem" wrap="nowrap">
    <StateLabel shape={props.shape}>{''}</StateLabel>
    <Box flex={1} miw={0}>
      <Text fw={550}>{props.label}</Text>
      <Text component="div" size="sm" c="dimmed">
        {props.children}
      </Text>
    </Box>
    {props.figure !== undefined && (
      <Text size="xl" fw={650}>
        {props.figure}
      </Text>
    )}
  </Group>
)

const DeviceState = (props: { device: string; last: Axes; instruction: string; children?: ReactNode }) => (
  <Check shape={isAtRest(props.last) ? 'off' : 'live'} label={props.device}>
    <span role="status" aria-label={props.device}>
      {isAtRest(props.last)
        ? props.instruction
        : t('operator.inputCheck.works', { direction: directionText(props.last) })}
    </span>
    {props.children}
  </Check>
)

function KeyboardCheck() {
  const [last, setLast] = useState(atRest)
  useWindowEvent('keydown', (event) => {
    const axes = isTyping() ? undefined : driveKeyOf(event)
    if (axes) setLast(axes)
  })
  return (
    <DeviceState
      device={t('operator.inputCheck.keyboard')}
      last={last}
      instruction={t('operator.inputCheck.pressKey')}
    />
  )
}

function GamepadCheck({ robotType }: { robotType: string }) {
  const [check, setCheck] = useState<PadCheck>()
  useEffect(() => {
    const opened = openPadCheck(robotType)
    setCheck(opened)
    return () => {
      opened.input.close()
      setCheck(undefined)
    }
  }, [robotType])
  return check ? <PadState check={check} /> : null
}

type PadCheck = ReturnType<typeof openPadCheck>

/** @returns the gamepad as `input`, and its `last` direction that was not at rest */
function openPadCheck(robotType: string) {
  const profile = loadControlProfile(robotType)
  const last = createStore<Axes>(atRest)
  const steer = ({ forward, left }: Axes) => {
    const direction = { forward: Math.sign(forward), left: Math.sign(left) }
    const old = last.get()
    if (isAtRest(direction) || (direction.forward === old.forward && direction.left === old.left)) return
    last.set(direction)
  }
  return { input: createGamepadInput({ steer, stop: () => undefined, profile: profile.get }), last }
}

function PadState({ check }: { check: PadCheck }) {
  const state = useStore(check.input.state)
  const last = useStore(check.last)
  if (state.phase === 'none' || state.phase === 'unknown')
    return (
      <Check shape="off" label={t('operator.inputCheck.gamepad')}>
        {state.phase === 'none'
          ? t('operator.inputCheck.noGamepad')
          : t('operator.inputCheck.unknownGamepad', { gamepad: state.name })}
      </Check>
    )
  return (
    <DeviceState
      device={t('operator.inputCheck.gamepad')}
      last={last}
      instruction={
        state.phase === 'waiting'
          ? t('operator.inputCheck.releaseStick', { gamepad: state.name })
          : t('operator.inputCheck.moveStick', { gamepad: state.name })
      }
    >
      <PadPicture gamepad={check.input} />
    </DeviceState>
  )
}
