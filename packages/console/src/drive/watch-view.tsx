import { useWindowEvent } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { FULL_SPEED } from '@wheelhouse/protocol'
import { NO_CONGESTION } from '@wheelhouse/sdk'
import { type ComponentProps, useEffect, useMemo, useState } from 'react'
import { IconSteeringWheel } from '../base/icons.tsx'
import { isShortcut, latinKey } from '../base/keys.ts'
import { Loading } from '../base/states.tsx'
import { useControlKind, useControlLease } from '../session/control-query.ts'
import { ReleaseRobot } from '../session/notices.tsx'
import {
  type ObserverConnection,
  type ObserverState,
  useObserverConnection,
  useObserverState,
} from '../session/observer-connection.ts'
import { type SessionDetail, useSessionAction } from '../session/session-query.ts'
import { useStop, useStopKey } from '../session/stop-bar.tsx'
import { t } from '../texts/texts.ts'
import type { Call } from './call.tsx'
import { abandonedCall, useCalls } from './calls.tsx'
import { CockpitFrame } from './cockpit-frame.tsx'
import { sessionCommands } from './command-menu.tsx'
import { watchedController } from './control-calls.tsx'
import { controlPlanOf, readControlSchema } from './control-plan.ts'
import { latencyMs } from './figure-texts.ts'
import { createHud } from './hud.ts'
import { useHudParts } from './hud-actions.ts'
import { type BatteryReading, createBatteryTrend } from './measurements.ts'
import { loadHand } from './preferences.ts'
import type { RobotView } from './robot-view.ts'
import { Sheets } from './sheets.tsx'
import { useSafeArea, useWakeLock } from './window.ts'

/** What an owner often has to tell an operator, mostly after a stop. */
const OWNER_REPLIES = [t('drive.watch.person'), t('drive.watch.obstacle'), t('drive.watch.wait')]

type Props = Pick<ComponentProps<typeof CockpitFrame>, 'session' | 'fetchedAtMs' | 'live'>

/** Shows an open session as its operator sees it, without inputs that drive. */
export function WatchView(props: Props) {
  const observerConnection = useObserverConnection(props.session.id, true)
  const observerState = useObserverState(observerConnection)
  useSafeArea()
  if (!observerConnection || !observerState) return <Loading />
  return <ViewerCockpit {...props} observerConnection={observerConnection} observerState={observerState} />
}

function ViewerCockpit(
  props: Props & { observerConnection: ObserverConnection; observerState: ObserverState },
) {
  const { session, fetchedAtMs, live, observerConnection, observerState } = props
  const [hud] = useState(() => createHud())
  const [hand] = useState(loadHand)
  const { control_schema } = session
  const { fullSpeed } = useMemo(() => controlPlanOf(readControlSchema(control_schema)), [control_schema])
  const stop = useStop(live.room, observerConnection)
  useStopKey(stop)
  useLeaveKey(session.id)
  const action = useSessionAction(session.id)
  const lease = useControlLease(session.id)
  const navigate = useNavigate()
  const openCockpit = () => void navigate({ to: '/drive/$sessionId', params: { sessionId: session.id } })
  const mayControl = useControlKind(session, lease) !== undefined
  const parts = useHudParts(session, {
    part: 'watch',
    hud,
    onEscape: stop.request,
    changeControl: mayControl ? openCockpit : undefined,
    ...NO_DRIVING,
  })
  useWakeLock(session.status === 'ACTIVE')
  const view = { session, live, robot: useRobotView(observerConnection, observerState), ...parts }
  const { phase } = view.robot.link
  return (
    <>
      <CockpitFrame
        {...view}
        status={session.status}
        fetchedAtMs={fetchedAtMs}
        hand={hand}
        stop={stop}
        calls={useCalls({
          ...view,
          stop: stop.state,
          isWatching: true,
          link: phase === 'online' ? undefined : linkCall(phase === 'ended', observerState.problem),
          paused: session.status === 'PAUSED' ? pausedCall(session) : undefined,
          onResume: undefined,
        })}
        controller={watchedController(lease, session)}
        commands={[
          ...sessionCommands({
            isPaused: session.status === 'PAUSED',
            isBusy: action.isPending,
            onPause: () => action.mutate('pause'),
            onResume: undefined,
            onEnd: () => hud.sheet.set('end'),
            endLabel: t('drive.watch.release'),
          }),
          ...(mayControl
            ? [
                {
                  id: 'cockpit',
                  icon: IconSteeringWheel,
                  label: t('session.live.openCockpit'),
                  hint: 'T',
                  run: openCockpit,
                },
              ]
            : []),
        ]}
        details={() => connectionDetails(observerState)}
        quickReplies={OWNER_REPLIES}
        fullSpeed={fullSpeed}
      />
      <Sheets cockpit={undefined} hud={hud} onEnd={() => action.mutateAsync('end')} />
    </>
  )
}

/** Opens the page of the session with the key Q. Escape, which closes views elsewhere, is the stop key. */
function useLeaveKey(sessionId: string): void {
  const navigate = useNavigate()
  useWindowEvent('keydown', (event) => {
    if (latinKey(event) !== 'q' || !isShortcut(event)) return
    event.preventDefault()
    void navigate({ to: '/sessions/$sessionId', params: { sessionId } })
  })
}

const doNothing = () => undefined

/** The keys that change how the robot is driven have no effect here. */
const NO_DRIVING = {
  actions: { pause: doNothing, resume: doNothing },
  preferences: { stepLimit: doNothing },
}

function useRobotView(observerConnection: ObserverConnection, observerState: ObserverState): RobotView {
  const { connection, drive, limits, battery, autonomy } = observerState
  return {
    link: { phase: connection },
    drive: drive ?? null,
    limits: limits ?? FULL_SPEED,
    congestion: NO_CONGESTION,
    battery: useBatteryReading(battery),
    autonomy,
    isPictureHeld: drive?.stop?.reason === 'video_stale',
    readLinkAges: observerConnection.ages,
    subscribe: observerConnection.subscribe,
  }
}

/** Returns the charge and its trend since the view was opened. */
function useBatteryReading(battery: ObserverState['battery']): BatteryReading | undefined {
  const [trend] = useState(createBatteryTrend)
  const [reading, setReading] = useState<BatteryReading>()
  useEffect(() => {
    if (!battery) return
    trend.add(battery.battery, battery.at)
    setReading(trend.read())
  }, [battery, trend])
  return reading
}

/** Returns the call of a connection that is missing */
function linkCall(isEnded: boolean, problem: string | undefined): Call {
  return {
    id: 'link',
    shape: 'lost',
    tone: 'blind',
    title: isEnded ? t('session.live.endedTitle') : t('session.live.connectingTitle'),
    text: isEnded ? problem : t('session.live.connectingText'),
  }
}

/** Returns the call of a paused session: its operator is gone, or may resume. */
const pausedCall = (session: SessionDetail): Call =>
  session.control.operator_gone_since === null
    ? {
        id: 'paused',
        shape: 'paused',
        tone: 'paused',
        title: t('drive.call.paused'),
        text: t('session.nextStep.waiting'),
      }
    : abandonedCall(
        session,
        <ReleaseRobot sessionId={session.id} robotName={session.robot_name}>
          {t('session.abandoned.release')}
        </ReleaseRobot>,
      )

/** Returns the way of a command to the robot and back: the round trips of operator and robot to the gateway. */
function connectionDetails({ driveLatency, roundTripMs }: ObserverState) {
  const { operator_ms: operatorMs = null, robot_ms: robotMs = null } = driveLatency ?? {}
  const text = (ms: number | null | undefined) => (ms == null ? t('drive.latency.noData') : latencyMs(ms))
  return [
    [t('drive.latency.yourNetwork'), text(roundTripMs)],
    [t('drive.watch.operatorNetwork'), text(operatorMs)],
    [t('drive.latency.robotNetwork'), text(robotMs)],
  ] as const
}
