import type { OperatorLink } from '@wheelhouse/sdk'
import { type ComponentProps, useEffect, useState } from 'react'
import { LeaveDialog } from '../base/confirm-button.tsx'
import { decimals } from '../base/format.ts'
import { createPersisted } from '../base/persisted.ts'
import { Loading } from '../base/states.tsx'
import { useStore } from '../base/store.ts'
import { DELAYED_MS } from '../freshness/freshness.ts'
import { useMe, usePlatform } from '../platform/platform.ts'
import type { LiveSession } from '../platform/use-live.ts'
import type { SessionDetail } from '../session/session-query.ts'
import { statusSince } from '../session/session-time.ts'
import type { StopControl } from '../stop/stop.ts'
import { useSampleReader } from '../telemetry/telemetry-view.tsx'
import { dropTexts } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import { type Call, CallButton } from './call.tsx'
import { linkCall, pausedCall, useCalls } from './calls.tsx'
import { type Cockpit, openCockpit } from './cockpit.ts'
import { CockpitFrame } from './cockpit-frame.tsx'
import { CommandInputs, Stick } from './command-inputs.tsx'
import { sessionCommands } from './command-menu.tsx'
import { useControl } from './control-calls.tsx'
import { controlPlanOf, isAtRest, readControlSchema } from './control-plan.ts'
import type { PadState } from './gamepad.ts'
import { createHud, type Hud } from './hud.ts'
import { useDriveActions, useHudParts } from './hud-actions.ts'
import type { LatencySample } from './measurements.ts'
import type { RobotView } from './robot-view.ts'
import { Sheets } from './sheets.tsx'
import { useSafeArea, useWakeLock } from './window.ts'

const OPERATOR_REPLIES = [t('drive.chat.onIt'), t('drive.chat.stopped'), t('drive.chat.isClear')]

type Props = Pick<ComponentProps<typeof CockpitFrame>, 'session' | 'fetchedAtMs' | 'live' | 'status'>

/** Shows an open session to its operator: the picture in the whole window, and on it instruments and controls. */
export function CockpitView(props: Props) {
  const cockpit = useCockpit(props.session, props.live)
  const [hud] = useState(() => createHud({ hasInputs: hasInputs(props.session) }))
  useSafeArea()
  return cockpit ? <OperatorCockpit {...props} cockpit={cockpit} hud={hud} /> : <Loading />
}

function OperatorCockpit(props: Props & { cockpit: Cockpit; hud: Hud }) {
  const { session, fetchedAtMs, live, status, cockpit, hud } = props
  const { operatorConnection, preferences, plan } = cockpit
  const actions = useDriveActions(session, status)
  const control = useControl(cockpit, session)
  const parts = useHudParts(session, {
    part: 'control',
    hud,
    preferences,
    actions,
    changeControl: control.change,
    cancelGoal: operatorConnection.cancelGoal,
    onEscape: cockpit.stop,
  })
  useWakeLock(status === 'ACTIVE')
  useHaptics(cockpit, session)
  useReleaseBelowSheets(cockpit, hud)
  const [stop] = useState((): StopControl => ({ state: cockpit.stopState, request: cockpit.stop }))
  const view = { session, live, robot: useRobotView(cockpit), ...parts }
  const hasDriven = useHasDriven(cockpit)
  const pad = useStore(cockpit.gamepad.state)
  const isAwaitingRest = useStore(cockpit.isAwaitingRest)
  const isRich = plan.inputs.length > 0 || plan.speeds.length > 0
  return (
    <>
      <CockpitFrame
        {...view}
        status={status}
        fetchedAtMs={fetchedAtMs}
        hand={preferences.hand}
        stop={stop}
        calls={[
          ...useCalls({
            ...view,
            stop: stop.state,
            isWatching: false,
            link: linkCall(view.robot.link, operatorConnection.takeOver),
            paused:
              control.holds && view.robot.drive?.status === 'PAUSED'
                ? pausedCall(actions, statusSince(live.events, 'PAUSED'))
                : undefined,
            onResume: actions.resume,
          }),
          ...(view.robot.link.phase === 'online' ? control.calls : []),
          ...(plan.drives || isRich ? [] : [noControlsCall]),
          ...(control.holds ? inputCalls(pad, isAwaitingRest, () => hud.sheet.set('controls')) : []),
        ]}
        controller={control.controller}
        commands={[
          ...sessionCommands({
            isPaused: actions.isPaused,
            isBusy: actions.isBusy,
            onPause: actions.pause,
            onResume: { isPossible: actions.canResume, run: actions.resume },
            onEnd: () => hud.sheet.set('end'),
            endLabel: t('drive.bar.end'),
          }),
          ...control.commands,
        ]}
        details={() => connectionDetails(cockpit)}
        quickReplies={OPERATOR_REPLIES}
        fullSpeed={plan.fullSpeed}
        onPictures={operatorConnection.showPictures}
        driving={{
          predict: cockpit.predict,
          preferences,
          axes: cockpit.axes,
          gamepad: pad.phase === 'ready' ? pad.name : undefined,
          stick: plan.drives && <Stick cockpit={cockpit} />,
          inputs: isRich && <CommandInputs cockpit={cockpit} />,
          hint: control.hint ?? (hasDriven || !plan.drives ? undefined : DRIVE_HINT),
          onControls: () => hud.sheet.set('controls'),
          sentGoal: operatorConnection.sentGoal,
          onGoal: control.holds ? operatorConnection.goal : undefined,
          onCancelGoal: control.holds ? operatorConnection.cancelGoal : undefined,
        }}
      />
      <Sheets cockpit={cockpit} hud={hud} onEnd={actions.end} />
      {/* Only for a robot that can be driven. It halts then. */}
      <LeaveDialog
        isNeeded={operatorConnection.canDrive}
        onAsk={cockpit.release}
        question={t('drive.leave.question', { robot: session.robot_name })}
        consequence={t('drive.leave.consequence')}
        confirmLabel={t('drive.leave.confirm')}
        dismissLabel={t('drive.leave.keep')}
      />
    </>
  )
}

function hasInputs({ control_schema }: SessionDetail): boolean {
  const { inputs, speeds } = controlPlanOf(readControlSchema(control_schema))
  return inputs.length > 0 || speeds.length > 0
}

const DRIVE_HINT = matchMedia('(any-pointer:coarse)').matches ? t('drive.hint.touch') : t('drive.hint.keys')

/** Returns the calls about inputs that do not drive yet. */
function inputCalls(pad: PadState, isAwaitingRest: boolean, openControls: () => void): readonly Call[] {
  const common = { shape: 'paused', tone: 'off' } as const
  if (pad.phase === 'unknown') {
    const acts = <CallButton onClick={openControls}>{t('drive.menu.controls')}</CallButton>
    return [{ ...common, id: 'pad', title: t('drive.bar.unknownGamepad'), text: pad.name, acts }]
  }
  const rest = { ...common, id: 'rest', title: t('drive.call.rest') }
  if (pad.phase === 'waiting') return [{ ...rest, text: t('drive.call.restPad', { gamepad: pad.name }) }]
  return isAwaitingRest ? [rest] : []
}

const noControlsCall: Call = {
  id: 'no-controls',
  shape: 'off',
  tone: 'off',
  title: t('drive.notice.noControls'),
}

function useRobotView({ operatorConnection }: Cockpit): RobotView {
  const drive = useStore(operatorConnection.state)
  const isRefused = useStore(operatorConnection.isPictureRefused)
  return {
    link: useStore(operatorConnection.link),
    drive,
    limits: useStore(operatorConnection.limits),
    congestion: useStore(operatorConnection.congestion),
    battery: useStore(operatorConnection.battery),
    autonomy: useStore(operatorConnection.autonomy),
    isPictureHeld: drive?.stop?.reason === 'video_stale' || isRefused,
    readLinkAges: operatorConnection.ages,
    subscribe: operatorConnection.telemetry.subscribe,
  }
}

/** Releases the inputs while a sheet covers the picture: what the operator does then is meant for the sheet. */
function useReleaseBelowSheets(cockpit: Cockpit, hud: Hud): void {
  const isOpen = useStore(hud.sheet) !== undefined
  useEffect(() => {
    if (isOpen) cockpit.release()
  }, [cockpit, isOpen])
}

const drivenOnce = createPersisted('wheelhouse-has-driven', false, (text) => text === 'true')

/** Returns whether this browser has ever driven a robot. */
function useHasDriven({ axes }: Cockpit): boolean {
  const hasDriven = useStore(drivenOnce)
  useEffect(() => {
    if (hasDriven) return
    return axes.subscribe(() => {
      if (!isAtRest(axes.get())) drivenOnce.set(true)
    })
  }, [axes, hasDriven])
  return hasDriven
}

const transportTexts: Record<OperatorLink['transport'], string> = {
  data_channel: t('drive.latency.dataChannel'),
  websocket: t('drive.latency.webSocket'),
}

function connectionDetails({ operatorConnection }: Cockpit) {
  const { command, operator, robot, held, dropped, lastDrop } = operatorConnection.latencyStats.read()
  const lastMs = operatorConnection.telemetry.lastMs()
  const isConnected = operatorConnection.state.get()?.robot_connected
  return [
    [t('drive.latency.robot'), isConnected ? t('drive.latency.connected') : t('drive.latency.offline')],
    [t('drive.latency.roundTrip'), latencyText(command)],
    [
      t('drive.latency.telemetryAge'),
      lastMs === undefined ? t('drive.latency.noData') : ageDetail(performance.now() - lastMs),
    ],
    [t('drive.latency.yourNetwork'), latencyText(operator)],
    [t('drive.latency.robotNetwork'), latencyText(robot)],
    [t('drive.latency.transport'), transportTexts[operatorConnection.transport()]],
    [
      t('drive.latency.lost'),
      lastDrop === undefined
        ? '0'
        : t('drive.latency.notDelivered', { held, dropped, reason: dropTexts[lastDrop] }),
    ],
  ] as const
}

const latencyText = ({ lastMs, p95Ms }: LatencySample) =>
  lastMs === undefined || p95Ms === undefined
    ? t('drive.latency.noData')
    : t('drive.latency.sample', { last: milliseconds(lastMs), p95: milliseconds(p95Ms) })

const milliseconds = (ms: number) => t('drive.latency.milliseconds', { ms: decimals(ms, ms < 10 ? 1 : 0) })
const ageDetail = (ms: number) =>
  ms < 1_000
    ? t('drive.latency.milliseconds', { ms: Math.round(ms) })
    : t('drive.latency.seconds', { seconds: Math.round(ms / 1_000) })

/** Opens a cockpit while the component is mounted. Closing it sends a zero command to the robot. */
function useCockpit(session: SessionDetail, { room }: LiveSession) {
  const { robot_id: robotId, robot_type: robotType, control_schema } = session
  const { rest } = usePlatform()
  const isOperator = useMe().id === session.operator_id
  const [cockpit, setCockpit] = useState<Cockpit>()
  // As text: a refetch returns a new object, which must not open another cockpit.
  const schemaText = JSON.stringify(control_schema)
  useEffect(() => {
    const opened = openCockpit({
      rest,
      room,
      robotId,
      robotType,
      isOperator,
      controlSchema: readControlSchema(JSON.parse(schemaText)),
    })
    setCockpit(opened)
    return () => {
      opened.close()
      setCockpit(undefined)
    }
  }, [rest, room, robotId, robotType, isOperator, schemaText])
  return cockpit
}

const PERIOD_MS = 400
const PULSE_MS = 150
/** From this distance on, the pulse grows towards the obstacle. */
const NEAR_M = 0.8

/** Lets gamepad and phone vibrate while the operator drives towards something near, or with data that is late. */
function useHaptics(cockpit: Cockpit, session: SessionDetail): void {
  const reader = useSampleReader(session.telemetry_schema)
  useEffect(() => {
    const { operatorConnection, preferences, gamepad, axes } = cockpit
    let newest: unknown
    const unsubscribe = operatorConnection.telemetry.subscribe(({ data }) => {
      newest = data
    })
    const timer = setInterval(() => {
      if (!preferences.controls.get().rumbles || isAtRest(axes.get())) return
      const { linkMs, telemetryMs = 0 } = operatorConnection.ages()
      const isLate = Math.max(linkMs, telemetryMs) >= DELAYED_MS
      const strength = isLate ? 1 : nearness(reader.nearest(newest)?.distanceM)
      if (strength === 0) return
      gamepad.rumble(strength, PULSE_MS)
      navigator.vibrate?.(PULSE_MS * strength)
    }, PERIOD_MS)
    return () => {
      clearInterval(timer)
      unsubscribe()
    }
  }, [cockpit, reader])
}

/** Returns how near an obstacle is: 0 from `NEAR_M` on, 1 for contact. */
const nearness = (distanceM = NEAR_M): number => Math.min(1, Math.max(0, 1 - distanceM / NEAR_M))
