import { ChatMessage } from '@wheelhouse/protocol'
import {
  type ComponentProps,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { useDarkPage } from '../base/dark-page.ts'
import { useFavicon } from '../base/favicon.ts'
import {
  IconAdjustments,
  IconAspectRatio,
  IconEye,
  IconFlag,
  IconFloat,
  IconGamepad,
  IconKeyboard,
  IconMap,
  IconMaximize,
  IconMessage,
  IconRoute,
  IconSidebar,
  IconSwitch,
  IconX,
} from '../base/icons.tsx'
import { playTones } from '../base/sound.ts'
import { type Store, useStore } from '../base/store.ts'
import { useNow } from '../base/time.tsx'
import { ageText } from '../freshness/freshness.ts'
import { useFreshnessValue, useIsSilent } from '../freshness/use-freshness.ts'
import { useNewNotifications } from '../notifications/use-notifications.ts'
import { useMe } from '../platform/platform.ts'
import { type LiveSession, useConnection } from '../platform/use-live.ts'
import { interruptionText, RecordingMarkView } from '../recording/recording-mark.tsx'
import { useSessionRecording } from '../recording/recordings.ts'
import type { SessionDetail } from '../session/session-query.ts'
import { useRoomForStop } from '../session/stop-bar.tsx'
import { type TrustState, trustOf } from '../status/trust.ts'
import type { StopControl } from '../stop/stop.ts'
import type { Predict } from '../telemetry/surroundings.ts'
import { useSampleReader } from '../telemetry/telemetry-view.tsx'
import { congestionText, speedLimitText } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import { useShownCameras, type WatchedCamera } from '../video/use-cameras.ts'
import { useReadAges } from '../video/video-view.tsx'
import type { VideoWatch } from '../video/watch-video.ts'
import {
  Bar,
  CameraDetails,
  Details,
  type DetailTexts,
  Identity,
  MenuButton,
  SessionFigures,
  TrustChip,
} from './bar.tsx'
import { type Call, CallSlot } from './call.tsx'
import styles from './cockpit.module.css'
import { type Command, type CommandGroup, CommandMenu } from './command-menu.tsx'
import type { Axes, ControlPlan } from './control-plan.ts'
import { GoalMap, type Goals } from './goal-map.tsx'
import type { HudAction } from './hud-actions.ts'
import { Nearby } from './nearby.tsx'
import { CameraInsets, Picture } from './picture.tsx'
import plates from './plates.module.css'
import type { DrivePreferences, Hand } from './preferences.ts'
import { factsOf, holderOf, type RobotView } from './robot-view.ts'
import { DockSpace, SideDock } from './side-dock.tsx'
import { SoundMark, useRobotSound, useSoundCommands } from './sound.tsx'
import { SpeedPlate } from './speed-plate.tsx'
import { StopButton, type StopPhase, StopSpace } from './stop-button.tsx'
import { canFloat, toggleFloating } from './window.ts'

interface Props
  extends Omit<ComponentProps<typeof SideDock>, 'subscribe' | 'predict' | 'inputs'>,
    Pick<ComponentProps<typeof Picture>, 'robot' | 'cameras'>,
    Pick<ComponentProps<typeof SessionFigures>, 'status' | 'fetchedAtMs'> {
  readonly hand: Store<Hand>
  readonly stop: StopControl
  /** What needs an answer, most urgent first. */
  readonly calls: readonly Call[]
  readonly perform: (action: HudAction) => void
  /** Commands of the session for the menu, before those of the view. */
  readonly commands: CommandGroup['commands']
  /** Details of the connection. Called again twice a second. */
  readonly details: () => DetailTexts
  readonly fullSpeed: ControlPlan['fullSpeed']
  /** Receives the viewers of the large picture and of all shown cameras when they change. Stable between renders. */
  readonly onPictures?: (main: VideoWatch | undefined, shown: readonly WatchedCamera[]) => void
  /** Who controls the robot; undefined if that is the user, or for a viewer the operator. */
  readonly controller: string | undefined
  /** What drives the robot; undefined for a viewer who watches. */
  readonly driving?: {
    readonly predict: Predict
    readonly preferences: DrivePreferences
    readonly axes: Store<Axes>
    readonly stick: ReactNode
    readonly gamepad: string | undefined
    readonly inputs: ReactNode
    /** How to drive, until the robot was driven once. */
    readonly hint: string | undefined
    readonly onControls: () => void
    readonly sentGoal: Goals['sent']
    readonly onGoal: Goals['onGoal']
    readonly onCancelGoal: Goals['onCancel']
  }
}

/** Lays out the cockpit for its operator and for a viewer: picture, instruments, calls, the stop above everything, dock and menu. */
export function CockpitFrame(props: Props) {
  const { session, status, fetchedAtMs, live, robot, cameras, hud, hand, episodes, stop, calls } = props
  const { controller, driving } = props
  const isWatching = driving === undefined
  const root = useRef<HTMLDivElement>(null)
  const { watch, shown, onWatch, onSmallWatches } = useShownCameras(cameras)
  const { onPictures } = props
  useEffect(() => onPictures?.(watch, shown), [onPictures, watch, shown])
  const readAges = useReadAges(watch, robot.readLinkAges)
  const isSilent = useIsSilent(robot.readLinkAges)
  const facts = factsOf(robot, session, status)
  const trust = useFreshnessValue(
    readAges,
    (freshness) => trustOf(freshness, { ...facts, isStopped: false, isPaused: false }).state,
  )
  const request = useStore(stop.state)
  const phase: StopPhase = request.phase === 'requested' ? 'requested' : facts.isStopped ? 'stopped' : 'ready'
  const holder = holderOf(facts, {
    phase: robot.link.phase,
    isSilent,
    isHeld: robot.isPictureHeld || trust === 'BLIND',
    isStopping: request.phase === 'requested',
  })
  const sound = useRobotSound({
    hud,
    cameras,
    shown,
    isOperator: !isWatching && controller === undefined && robot.link.phase === 'online',
    isHalted: phase !== 'ready' || facts.isPaused,
  })
  const recording = useSessionRecording(session.id).data
  const dock = useStore(hud.dock)
  const { hasArm } = useSampleReader(session.telemetry_schema)
  useDarkPage()
  useRoomForStop('cockpit')
  useAlerts(trust, facts.isStopped)
  useFavicon(faviconOf(trust, facts.isStopped))
  const isUnknown = isSilent || !facts.isConnected || robot.link.phase !== 'online'
  const goals: Goals = {
    autonomy: robot.autonomy,
    isUnknown,
    sent: driving?.sentGoal,
    onGoal: driving?.onGoal,
    onCancel: driving?.onCancelGoal,
  }
  const isGoalMap = useStore(hud.isGoalMap) && typeof robot.autonomy?.goal_frame === 'string'
  const shared = {
    'data-hand': useStore(hand),
    'data-docked': dock !== '',
    'data-watching': isWatching,
    'data-goal-map': isGoalMap,
  }
  const predict = driving?.predict
  const telemetry = { subscribe: robot.subscribe, telemetrySchema: session.telemetry_schema }
  return (
    <>
      <div ref={root} className={styles.cockpit} {...shared} data-bare={useStore(hud.isBare)}>
        <main className={styles.stage}>
          <div className={styles.hud} data-called={calls.length > 0}>
            <Picture
              robot={robot}
              predict={predict}
              session={session}
              cameras={cameras}
              hud={hud}
              readAges={readAges}
              rim={
                facts.isStopped || phase === 'requested' ? 'stopped' : facts.isPaused ? 'paused' : undefined
              }
              onWatch={onWatch}
            />
            <Bar
              end={
                <>
                  <SessionFigures
                    session={session}
                    status={status}
                    fetchedAtMs={fetchedAtMs}
                    battery={robot.battery}
                    isSilent={isSilent}
                    isLost={!facts.isConnected}
                    recording={<RecordingMarkView recording={recording} isUnknown={isSilent} />}
                    sound={<SoundMark sound={sound} hud={hud} />}
                  />
                  <MenuButton
                    waiting={Math.max(0, calls.length - 1)}
                    isOpen={useStore(hud.sheet) === 'menu'}
                    onOpen={() => hud.sheet.set('menu')}
                  />
                </>
              }
            >
              <Identity
                session={session}
                holder={holder}
                controller={controller}
                isLive={trust === 'LIVE' || trust === 'DELAYED'}
                isWatching={isWatching}
                mode={isUnknown ? undefined : robot.autonomy?.mode}
                gamepad={driving?.gamepad}
              />
              <TrustChip readAges={readAges} robot={facts} linkText={linkText(robot, isSilent)}>
                <Details read={props.details} />
                <CameraDetails cameras={shown} />
              </TrustChip>
            </Bar>
            <CallSlot calls={calls} />
            <CameraInsets cameras={cameras} isArm={hasArm} onWatches={onSmallWatches} />
            <MessageLine
              live={live}
              session={session}
              hint={driving?.hint}
              onOpen={() => props.perform('chat')}
            />
            <StopSpace phase={phase} isWatching={isWatching} />
            <SpeedPlate
              {...telemetry}
              preferences={driving?.preferences}
              axes={driving?.axes}
              fullSpeed={props.fullSpeed}
              speedScale={robot.link.phase === 'online' ? robot.limits.speed_scale : 1}
              cause={useCause(robot, isSilent ? undefined : interruptionText(recording))}
            />
            {isGoalMap ? (
              <GoalMap {...telemetry} predict={predict} goals={goals} />
            ) : (
              <Nearby {...telemetry} predict={predict} goals={goals} />
            )}
            {driving?.stick && <div className={styles.stick}>{driving.stick}</div>}
          </div>
        </main>
        <SideDock
          hud={hud}
          session={session}
          live={live}
          subscribe={robot.subscribe}
          predict={predict}
          episodes={episodes}
          quickReplies={props.quickReplies}
          inputs={driving?.inputs}
        />
      </div>
      <div className={styles.above} {...shared}>
        <div className={styles.stage}>
          <div className={styles.hud}>
            <StopButton phase={phase} isWatching={isWatching} onStop={stop.request} />
            {driving?.stick && <div className={`${styles.stick} ${styles.stickSpace}`} />}
          </div>
        </div>
        {dock !== '' && <DockSpace />}
      </div>
      <CommandMenu
        hud={hud}
        note={isWatching ? t('drive.menu.watchNote') : t('drive.menu.note', { robot: session.robot_name })}
        groups={[
          { title: t('drive.menu.session'), commands: props.commands },
          {
            title: t('drive.menu.sound'),
            commands: useSoundCommands(sound, { hud, isOperator: !isWatching }),
          },
          { title: t('drive.menu.view'), commands: useViewCommands(props, root) },
        ]}
      />
    </>
  )
}

const TICK = [[880, 40]] as const
const LOW = [
  [330, 160],
  [262, 220],
] as const
const STOP = [[440, 320]] as const

/** Plays a tick when the picture is late, two low tones when it is blind or the robot lost, and a tone when it is stopped. */
function useAlerts(trust: TrustState, isStopped: boolean): void {
  const before = useRef({ trust, isStopped })
  useEffect(() => {
    const old = before.current
    before.current = { trust, isStopped }
    if (isStopped && !old.isStopped) {
      playTones(STOP)
      navigator.vibrate?.(600)
    } else if (isDark(trust) && !isDark(old.trust)) {
      playTones(LOW)
      navigator.vibrate?.([200, 100, 200])
    } else if (trust === 'DELAYED' && old.trust === 'LIVE') {
      playTones(TICK)
    }
  }, [trust, isStopped])
}

const isDark = (trust: TrustState): boolean => trust === 'BLIND' || trust === 'LOST'

function faviconOf(state: TrustState, isStopped: boolean) {
  if (isStopped || isDark(state)) return 'stopped'
  if (state === 'LIVE') return 'live'
  return state === 'DELAYED' ? 'delayed' : undefined
}

const linkTexts: Record<RobotView['link']['phase'], string> = {
  connecting: t('drive.link.connecting'),
  online: t('drive.link.online'),
  offline: t('drive.link.offline'),
  ended: t('drive.link.ended'),
}

const linkText = ({ link }: RobotView, isSilent: boolean): string =>
  isSilent && link.phase === 'online' ? t('drive.link.silent') : linkTexts[link.phase]

/** Returns what slows the robot down, or else what the viewer must know of recording, connection and hub. */
function useCause(
  { link, limits, congestion }: RobotView,
  recordingText: string | undefined,
): string | undefined {
  const hub = useConnection()
  const isOnline = link.phase === 'online'
  return (
    (isOnline ? (speedLimitText(limits) ?? congestionText(congestion)) : undefined) ??
    recordingText ??
    (hub === 'live' || hub === 'connecting' ? undefined : t('drive.figures.noHub'))
  )
}

const NEWS_MS = 8_000

/** Shows the newest message in one line, or how to drive. It opens the messages. News of other sessions take its place for a moment. */
function MessageLine(props: {
  live: LiveSession
  session: SessionDetail
  hint: string | undefined
  onOpen: () => void
}) {
  const { live, session, hint, onOpen } = props
  const { sender, text, sentAtMs } = useNewestMessage(live)
  const news = useNews(session.id)
  const nowMs = useNow()
  const shown = news ?? (sender === undefined && hint !== undefined ? hint : text)
  return (
    <button
      type="button"
      className={`${plates.plate} ${styles.message}`}
      data-hud="message"
      onClick={onOpen}
      title={t('drive.chat.open')}
    >
      <IconMessage size={18} />
      <span className={styles.messageText} aria-live="polite" data-testid={news ? 'ticker' : 'chat-last'}>
        {news === undefined && sender !== undefined && <b>{sender} </b>}
        {shown}
      </span>
      {news === undefined && sentAtMs !== undefined && (
        <time className={styles.messageAge}>{ageText(Math.max(1_000, nowMs - sentAtMs))}</time>
      )}
    </button>
  )
}

/** Returns the newest message; without a sender while there is none. */
function useNewestMessage({ events, outgoing }: LiveSession) {
  const me = useMe()
  const last = useMemo(() => events.findLast(({ type }) => type === 'chat.message'), [events])
  const sent = outgoing.at(-1)
  if (sent) return { sender: t('drive.chat.you'), text: sent.body, sentAtMs: undefined }
  const message = last && ChatMessage.safeParse(last.data).data
  if (!message) return { sender: undefined, text: t('drive.chat.empty'), sentAtMs: undefined }
  return {
    sender: message.sender_id === me.id ? t('drive.chat.you') : message.sender_name,
    text: message.body,
    sentAtMs: Date.parse(message.created_at),
  }
}

/** Returns a new notification of another session for some seconds. No pop-up may cover an instrument. */
function useNews(sessionId: string): string | undefined {
  const [news, setNews] = useState<{ id: string; text: string }>()
  useNewNotifications(
    useCallback(
      ({ id }, { title, detail, sessionId: about }) => {
        if (about !== sessionId) setNews({ id, text: detail ? `${title} · ${detail}` : title })
      },
      [sessionId],
    ),
  )
  useEffect(() => {
    if (!news) return
    const timer = setTimeout(() => setNews(undefined), NEWS_MS)
    return () => clearTimeout(timer)
  }, [news])
  return news?.text
}

/** Returns the commands that change what the view shows. */
function useViewCommands(
  { hud, robot, perform, cameras, episodes, driving }: Props,
  root: RefObject<HTMLDivElement | null>,
): CommandGroup['commands'] {
  const isFilled = useStore(hud.isFilled)
  const isBare = useStore(hud.isBare)
  const float = () => {
    if (root.current) toggleFloating(root.current).catch((cause) => console.warn('floating:', cause))
  }
  const command = (id: string, icon: Command['icon'], label: string, hint: string, action: HudAction) => ({
    id,
    icon,
    label,
    hint,
    run: () => perform(action),
  })
  const canBegin = episodes.state !== undefined && episodes.running === null
  return [
    ...(canBegin ? [command('episode', IconFlag, t('drive.menu.episode'), 'E', 'episode')] : []),
    ...(cameras.others.length > 0
      ? [command('camera', IconSwitch, t('drive.keys.camera'), 'V', 'camera')]
      : []),
    command('open-dock', IconSidebar, t('drive.menu.dock'), 'L', 'dock'),
    command('values', IconAdjustments, t('drive.menu.values'), 'I', 'values'),
    command('map', IconMap, t('drive.menu.map'), 'M', 'swap'),
    ...(robot.autonomy?.goal_frame
      ? [command('goal-map', IconRoute, t('drive.goal.map'), 'G', 'goalMap')]
      : []),
    ...(driving?.onCancelGoal && robot.autonomy?.goal?.status === 'active'
      ? [command('cancel-goal', IconX, t('drive.goal.cancel'), 'X', 'cancelGoal')]
      : []),
    {
      id: 'fill',
      icon: IconAspectRatio,
      label: isFilled ? t('drive.menu.whole') : t('drive.menu.fill'),
      run: () => hud.isFilled.set(!isFilled),
    },
    command('bare', IconEye, isBare ? t('drive.menu.show') : t('drive.menu.hide'), '`', 'overlay'),
    command('full-screen', IconMaximize, t('drive.keys.fullScreen'), 'F', 'fullScreen'),
    ...(canFloat() ? [{ id: 'float', icon: IconFloat, label: t('drive.menu.float'), run: float }] : []),
    ...(driving
      ? [{ id: 'controls', icon: IconGamepad, label: t('drive.menu.controls'), run: driving.onControls }]
      : []),
    command('keys', IconKeyboard, t('drive.menu.keys'), '?', 'keys'),
  ]
}
