import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useBlocker } from '@tanstack/react-router'
import { ControlSchema, type SessionStatus } from '@wheelhouse/protocol'
import { useCallback, useEffect, useRef, useState } from 'react'
import { Loading } from '../base/states.tsx'
import { useStore } from '../base/store.ts'
import { useEpisodeMarks } from '../episodes/episode-panel.tsx'
import { DELAYED_MS } from '../freshness/freshness.ts'
import { usePlatform } from '../platform/platform.ts'
import type { LiveSession } from '../platform/use-live.ts'
import type { SessionDetail } from '../session/session-query.ts'
import { createSampleReader } from '../telemetry/sample-reader.ts'
import { useTelemetrySchema } from '../telemetry/telemetry-view.tsx'
import { t } from '../texts/texts.ts'
import { useSessionCameras, useShownCameras } from '../video/use-cameras.ts'
import { useReadAges } from '../video/video-view.tsx'
import { BottomBar } from './bottom-bar.tsx'
import { ChatOverlay, OPERATOR_REPLIES } from './chat-overlay.tsx'
import styles from './cockpit.module.css'
import { type Cockpit, openCockpit } from './cockpit.ts'
import { CommandInputs, Stick } from './command-inputs.tsx'
import { isAtRest } from './control-plan.ts'
import { Figures } from './figures.tsx'
import { createHud, EpisodeOverlay, type Hud } from './hud.tsx'
import { useDriveActions, useHudActions, useHudKeys } from './hud-actions.ts'
import { Notices } from './notices.tsx'
import { findLatchedStop } from './operator-stop.ts'
import { Picture } from './picture.tsx'
import { Sheets } from './sheets.tsx'
import { StopBar } from './stop-bar.tsx'
import { TopBar } from './top-bar.tsx'
import { canFloat, toggleFloating, useFullScreen, useSafeArea, useWakeLock } from './window.ts'

/** Asks for confirmation before the operator leaves the cockpit of a robot that can be driven. The robot halts then. */
function LeaveGuard({ cockpit, robotName }: { cockpit: Cockpit; robotName: string }) {
  const isDriving = () => cockpit.operatorConnection.canDrive()
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: isDriving,
    enableBeforeUnload: isDriving,
    withResolver: true,
  })
  const isAsking = status === 'blocked'
  useEffect(() => {
    if (isAsking) cockpit.release()
  }, [isAsking, cockpit])
  return (
    <Modal
      opened={isAsking}
      onClose={() => reset?.()}
      title={t('drive.leave.question', { robot: robotName })}
    >
      <Stack>
        <Text>{t('drive.leave.consequence')}</Text>
        <Group justify="flex-end">
          <Button variant="default" data-autofocus onClick={() => reset?.()}>
            {t('drive.leave.keep')}
          </Button>
          <Button color="red.9" onClick={() => proceed?.()}>
            {t('drive.leave.confirm')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

interface Props {
  readonly session: SessionDetail
  /** When the session was loaded, in Unix milliseconds. */
  readonly fetchedAtMs: number
  readonly live: LiveSession
  readonly status: SessionStatus
}

/** Shows an open session to its operator: the picture in the whole window, and on it instruments and controls. */
export function CockpitView(props: Props) {
  const cockpit = useCockpit(props.session, props.live)
  const [hud] = useState(createHud)
  useSafeArea()
  return cockpit ? <Layout {...props} cockpit={cockpit} hud={hud} /> : <Loading />
}

function Layout(props: Props & { cockpit: Cockpit; hud: Hud }) {
  const { session, fetchedAtMs, live, status, cockpit, hud } = props
  const { operatorConnection, preferences, plan } = cockpit
  const root = useRef<HTMLDivElement>(null)
  const cameras = useSessionCameras(session, 'control')
  const { watch, shown, onWatch, onSmallWatches } = useShownCameras(cameras)
  useEffect(() => operatorConnection.showPicture(watch), [operatorConnection, watch])
  const readAges = useReadAges(watch, operatorConnection.ages)
  const actions = useDriveActions(session, status)
  const { toggle: toggleFullScreen } = useFullScreen(cockpit.stop)
  const episodes = useEpisodeMarks(session.id, session.robot_id)
  const perform = useHudActions({
    hud,
    preferences,
    actions,
    toggleFullScreen,
    nextCamera: cameras.next,
    episodes,
  })
  useHudKeys(perform)
  useWakeLock(status === 'ACTIVE')
  useHaptics(cockpit, session)
  const float = useCallback(() => {
    if (root.current) toggleFloating(root.current).catch((cause) => console.warn('floating:', cause))
  }, [])
  const state = useStore(operatorConnection.state)
  const isPictureRefused = useStore(operatorConnection.isPictureRefused)
  const inForce = findLatchedStop(useStore(operatorConnection.link), state, live.events)
  return (
    <>
      <div
        ref={root}
        className={styles.cockpit}
        data-hand={useStore(preferences.hand)}
        data-bare={useStore(hud.isBare)}
        data-stopped={inForce !== undefined}
      >
        <Picture
          subscribe={operatorConnection.telemetry.subscribe}
          readLinkAges={operatorConnection.ages}
          predict={cockpit.predict}
          isHeld={isPictureRefused || state?.stop?.reason === 'video_stale'}
          session={session}
          cameras={cameras}
          hud={hud}
          readAges={readAges}
          onWatch={onWatch}
          onSmallWatches={onSmallWatches}
        />
        <TopBar
          cockpit={cockpit}
          session={session}
          status={status}
          fetchedAtMs={fetchedAtMs}
          readAges={readAges}
          cameras={shown}
        />
        <Notices cockpit={cockpit} session={session} live={live} />
        {useStore(hud.areInputsShown) && <CommandInputs cockpit={cockpit} />}
        {plan.drives && <Stick cockpit={cockpit} />}
        <Figures
          subscribe={operatorConnection.telemetry.subscribe}
          telemetrySchema={session.telemetry_schema}
          preferences={preferences}
          fullSpeed={plan.fullSpeed}
        />
        <EpisodeOverlay marks={episodes} hud={hud} />
        <ChatOverlay live={live} hud={hud} quickReplies={OPERATOR_REPLIES} />
        <BottomBar
          gamepad={cockpit.gamepad.state}
          hasInputs={plan.inputs.length > 0 || plan.speeds.length > 0}
          actions={actions}
          hasEpisodes={episodes.state !== undefined}
          hud={hud}
          perform={perform}
          onFloat={canFloat() ? float : undefined}
        />
      </div>
      <StopBar
        state={cockpit.stopState}
        hand={preferences.hand}
        session={session}
        inForce={inForce}
        onStop={cockpit.stop}
      />
      <Sheets cockpit={cockpit} live={live} hud={hud} />
      <LeaveGuard cockpit={cockpit} robotName={session.robot_name} />
    </>
  )
}

/** Opens a cockpit while the component is mounted. Closing it sends a zero command to the robot. */
function useCockpit(session: SessionDetail, { room }: LiveSession) {
  const { robot_id: robotId, robot_type: robotType, control_schema } = session
  const { rest } = usePlatform()
  const [cockpit, setCockpit] = useState<Cockpit>()
  // As text: a refetch returns a new object, which must not open another cockpit.
  const schemaText = JSON.stringify(control_schema)
  useEffect(() => {
    const opened = openCockpit({ rest, room, robotId, robotType, controlSchema: schemaOf(schemaText) })
    setCockpit(opened)
    return () => {
      opened.close()
      setCockpit(undefined)
    }
  }, [rest, room, robotId, robotType, schemaText])
  return cockpit
}

/** Returns a control schema; null without one, and for one that this page does not understand. */
function schemaOf(text: string): ControlSchema | null {
  const { data } = ControlSchema.safeParse(JSON.parse(text))
  return data ?? null
}

const PERIOD_MS = 400
const PULSE_MS = 150
/** From this distance on, the pulse grows towards the obstacle. */
const NEAR_M = 0.8

/** Lets gamepad and phone vibrate while the operator drives towards something near, or with data that is late. */
function useHaptics(cockpit: Cockpit, session: SessionDetail): void {
  const schema = useTelemetrySchema(session.telemetry_schema)
  useEffect(() => {
    const { operatorConnection, preferences, gamepad, axes } = cockpit
    const reader = createSampleReader(schema)
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
  }, [cockpit, schema])
}

/** Returns how near an obstacle is: 0 from `NEAR_M` on, 1 for contact. */
const nearness = (distanceM = NEAR_M): number => Math.min(1, Math.max(0, 1 - distanceM / NEAR_M))
