import { useNavigate } from '@tanstack/react-router'
import { ControlSchema } from '@wheelhouse/protocol'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { LiveSession } from '../../platform/use-live.ts'
import { useEpisodeMarks } from '../../recording/episode-panel.tsx'
import type { ObserverConnection, ObserverState } from '../../session/observer-connection.ts'
import { useObserverConnection, useObserverState } from '../../session/observer-connection.ts'
import type { SessionDetail } from '../../session/session-query.ts'
import { useStop, useStopKey } from '../../session/stop-bar.tsx'
import { isTyping, latinKey } from '../../ui/keys.ts'
import { Loading } from '../../ui/states.tsx'
import { useStore } from '../../ui/store.ts'
import { useSessionCameras, useShownCameras } from '../../video/use-cameras.ts'
import { useReadAges } from '../../video/video-view.tsx'
import { ChatOverlay } from '../chat-overlay.tsx'
import styles from '../cockpit.module.css'
import { controlPlanOf } from '../control-plan.ts'
import { EpisodeOverlay } from '../episodes/episode-overlay.tsx'
import { Figures } from '../figures.tsx'
import { useFullScreen } from '../full-screen.ts'
import { createHud } from '../hud.ts'
import { useHudKeys } from '../hud-keys.ts'
import { findLatchedStop } from '../latched-stop.ts'
import { Picture } from '../picture.tsx'
import { canFloat, toggleFloating } from '../picture-in-picture.ts'
import { loadHand } from '../preferences.ts'
import { Sheets } from '../sheets.tsx'
import { StopBar } from '../stop-bar.tsx'
import { useHudActions } from '../use-hud-actions.ts'
import { useSafeArea } from '../use-safe-area.ts'
import { useWakeLock } from '../wake-lock.ts'
import { WatchBar } from './watch-bar.tsx'
import { WatchNotices } from './watch-notices.tsx'
import { WatchTopBar } from './watch-top-bar.tsx'

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
