import { useNavigate } from '@tanstack/react-router'
import { ControlSchema } from '@wheelhouse/protocol'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { HudButton } from '../base/hud-button.tsx'
import { isTyping, latinKey } from '../base/keys.ts'
import { messageOf } from '../base/message-of.ts'
import { Loading } from '../base/states.tsx'
import { useStore } from '../base/store.ts'
import { useEpisodeMarks } from '../episodes/episode-panel.tsx'
import type { LiveSession } from '../platform/use-live.ts'
import { AbandonedNotice, ConnectionProblem, lostUntil, ReleaseRobot } from '../session/notices.tsx'
import {
  type ObserverConnection,
  type ObserverState,
  useObserverConnection,
  useObserverState,
} from '../session/observer-connection.ts'
import { type SessionDetail, useSessionAction } from '../session/session-query.ts'
import { useStop, useStopKey } from '../session/stop-bar.tsx'
import { t } from '../texts/texts.ts'
import { useSessionCameras, useShownCameras } from '../video/use-cameras.ts'
import { useReadAges } from '../video/video-view.tsx'
import bottomBarStyles from './bottom-bar.module.css'
import { Tools } from './bottom-bar.tsx'
import { ChatOverlay } from './chat-overlay.tsx'
import styles from './cockpit.module.css'
import { controlPlanOf } from './control-plan.ts'
import { Figures } from './figures.tsx'
import { createHud, EpisodeOverlay, type Hud } from './hud.tsx'
import { type HudAction, useHudActions, useHudKeys } from './hud-actions.ts'
import noticesStyles from './notices.module.css'
import { Hint, LostHint, SessionNotices } from './notices.tsx'
import { findLatchedStop } from './operator-stop.ts'
import { Picture } from './picture.tsx'
import { loadHand } from './preferences.ts'
import { Sheets } from './sheets.tsx'
import { StopBar } from './stop-bar.tsx'
import { WatchTopBar } from './watch-top-bar.tsx'
import { canFloat, toggleFloating, useFullScreen, useSafeArea, useWakeLock } from './window.ts'

/** Opens the page of the session with the key Q. Escape, which closes views elsewhere, is the stop key. */
function useLeaveKey(sessionId: string): void {
  const navigate = useNavigate()
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (latinKey(event) !== 'q' || event.repeat || event.isComposing || isTyping()) return
      if (event.ctrlKey || event.metaKey || event.altKey) return
      if (document.querySelector('[role=dialog]') !== null) return
      event.preventDefault()
      void navigate({ to: '/sessions/$sessionId', params: { sessionId } })
    }
    window.addEventListener('keydown', onKeyDown)
    return () => window.removeEventListener('keydown', onKeyDown)
  }, [navigate, sessionId])
}

interface Props {
  readonly session: SessionDetail
  /** When the session was loaded, in Unix milliseconds. */
  readonly fetchedAtMs: number
  readonly live: LiveSession
}

/** Shows an open session as its operator sees it, without inputs that drive. */
export function WatchView(props: Props) {
  const observerConnection = useObserverConnection(props.session.id, true)
  const observerState = useObserverState(observerConnection)
  useSafeArea()
  if (!observerConnection || !observerState) return <Loading />
  return <Layout {...props} observerConnection={observerConnection} observerState={observerState} />
}

interface LayoutProps extends Props {
  readonly observerConnection: ObserverConnection
  readonly observerState: ObserverState
}

function Layout({ session, fetchedAtMs, live, observerConnection, observerState }: LayoutProps) {
  const root = useRef<HTMLDivElement>(null)
  const [hud] = useState(createHud)
  const [hand] = useState(loadHand)
  const cameras = useSessionCameras(session, 'watch')
  const { watch, shown, onWatch, onSmallWatches } = useShownCameras(cameras)
  const readAges = useReadAges(watch, observerConnection.ages)
  const stop = useStop(live.room, observerConnection)
  useStopKey(stop)
  useLeaveKey(session.id)
  const { toggle: toggleFullScreen } = useFullScreen(stop.request)
  const episodes = useEpisodeMarks(session.id, session.robot_id)
  const perform = useHudActions({
    hud,
    toggleFullScreen,
    nextCamera: cameras.next,
    episodes,
    ...NO_DRIVING,
  })
  useHudKeys(perform)
  useWakeLock(session.status === 'ACTIVE')
  const float = useCallback(() => {
    if (root.current) toggleFloating(root.current).catch((cause) => console.warn('floating:', cause))
  }, [])
  const state = observerState.drive ?? null
  const inForce = findLatchedStop({ phase: observerState.connection }, state, live.events)
  return (
    <>
      <div
        ref={root}
        className={styles.cockpit}
        data-hand={useStore(hand)}
        data-bare={useStore(hud.isBare)}
        data-stopped={inForce !== undefined}
        data-watching="true"
      >
        <Picture
          subscribe={observerConnection.subscribe}
          readLinkAges={observerConnection.ages}
          isHeld={state?.stop?.reason === 'video_stale'}
          session={session}
          cameras={cameras}
          hud={hud}
          readAges={readAges}
          onWatch={onWatch}
          onSmallWatches={onSmallWatches}
        />
        <WatchTopBar
          session={session}
          fetchedAtMs={fetchedAtMs}
          observerState={observerState}
          readAges={readAges}
          readLinkAges={observerConnection.ages}
          cameras={shown}
        />
        <WatchNotices
          session={session}
          live={live}
          observerConnection={observerConnection}
          observerState={observerState}
        />
        <Figures
          subscribe={observerConnection.subscribe}
          telemetrySchema={session.telemetry_schema}
          preferences={undefined}
          fullSpeed={useFullSpeed(session)}
        />
        <EpisodeOverlay marks={episodes} hud={hud} />
        <ChatOverlay live={live} hud={hud} quickReplies={NO_REPLIES} />
        <WatchBar
          session={session}
          hasEpisodes={episodes.state !== undefined}
          hud={hud}
          perform={perform}
          onFloat={canFloat() ? float : undefined}
        />
      </div>
      <StopBar
        state={stop.state}
        hand={hand}
        session={session}
        inForce={inForce}
        isWatching
        onStop={stop.request}
      />
      <Sheets cockpit={undefined} live={live} hud={hud} />
    </>
  )
}

const NO_REPLIES: readonly string[] = []

const doNothing = () => undefined

/** The keys that change how the robot is driven have no effect here. */
const NO_DRIVING = {
  actions: { pause: doNothing, resume: doNothing },
  preferences: { stepLimit: doNothing },
}

/** Returns the speed that fills the bar of the speed, by the commands that the robot declares. */
function useFullSpeed({ control_schema }: SessionDetail) {
  return useMemo(() => {
    const { data } = ControlSchema.safeParse(control_schema)
    return controlPlanOf(data ?? null).fullSpeed
  }, [control_schema])
}

interface WatchBarProps {
  readonly session: SessionDetail
  readonly hasEpisodes: boolean
  readonly hud: Hud
  readonly perform: (action: HudAction) => void
  /** Shows the picture in a floating window; undefined if the browser cannot. */
  readonly onFloat: (() => void) | undefined
}

/** Shows the actions of an owner or an admin on the session, and the tools of the view. Only the operator resumes. */
function WatchBar({ session, hasEpisodes, hud, perform, onFloat }: WatchBarProps) {
  const action = useSessionAction(session.id)
  return (
    <footer className={bottomBarStyles.bottomBar}>
      <HudButton
        data-testid="pause"
        className={bottomBarStyles.pause}
        disabled={action.isPending || session.status === 'PAUSED'}
        onClick={() => action.mutate('pause')}
      >
        {t('drive.bar.pause')}
      </HudButton>
      <ReleaseRobot className={bottomBarStyles.end} sessionId={session.id} robotName={session.robot_name}>
        {t('drive.watch.release')}
      </ReleaseRobot>
      {action.error && (
        <span className={bottomBarStyles.problem} role="alert">
          {messageOf(action.error)}
        </span>
      )}
      <span className={bottomBarStyles.gamepad} />
      <Tools
        hasInputs={false}
        hasEpisodes={hasEpisodes}
        hud={hud}
        perform={perform}
        onFloat={onFloat}
        isWatching
      />
    </footer>
  )
}

interface WatchNoticesProps {
  readonly session: SessionDetail
  readonly live: LiveSession
  readonly observerConnection: ObserverConnection
  readonly observerState: ObserverState
}

/** Shows on the picture why the robot does not move, and what the owner decides. Each has its own place, so that nothing moves when one appears. */
const WatchNotices = ({ session, live, observerConnection, observerState }: WatchNoticesProps) => (
  <>
    <div className={noticesStyles.middle}>
      <ConnectionProblem
        className={noticesStyles.notice}
        observerConnection={observerConnection}
        observerState={observerState}
      />
      <PauseNotice session={session} live={live} observerState={observerState} />
      {session.status === 'PAUSED' && session.control.operator_gone_since !== null && (
        <div className={noticesStyles.notice}>
          <AbandonedNotice session={session} />
        </div>
      )}
    </div>
    <SessionNotices session={session} live={live} />
  </>
)

/** Explains how a paused session goes on. A stop has its own banner. */
function PauseNotice({
  session,
  live,
  observerState,
}: Pick<WatchNoticesProps, 'session' | 'live' | 'observerState'>) {
  const { connection, drive } = observerState
  if (connection !== 'online' || drive === undefined) return null
  if (!drive.robot_connected) {
    return (
      <LostHint
        until={lostUntil(live.events)}
        text={t('drive.watch.robotLost')}
        timed={(time) => t('drive.watch.robotLostUntil', { time })}
      />
    )
  }
  if (drive.status !== 'PAUSED' || drive.stop?.latched || session.control.stop) return null
  return <Hint text={t('session.nextStep.waiting')} />
}
