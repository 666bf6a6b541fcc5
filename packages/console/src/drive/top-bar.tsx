import { Badge } from '@mantine/core'
import type { DriveState, SessionStatus } from '@wheelhouse/protocol'
import type { CongestionCause } from '@wheelhouse/sdk'
import type { ReactNode } from 'react'
import { LinkAnchor } from '../base/links.tsx'
import { useStore } from '../base/store.ts'
import { LiveFreshness } from '../freshness/freshness-badge.tsx'
import { type ReadAges, useIsSilent } from '../freshness/use-freshness.ts'
import { useConnection } from '../platform/use-live.ts'
import { interruptionText, RecordingMarkView } from '../recording/recording-mark.tsx'
import { useSessionRecording } from '../recording/use-recordings.ts'
import type { SessionDetail } from '../session/session-query.ts'
import { ConnectionBadge } from '../status/connection-badge.tsx'
import { robotStateTexts, speedLimitText } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import type { WatchedCamera } from '../video/use-cameras.ts'
import type { Cockpit } from './cockpit.ts'
import type { LinkView } from './operator-connection.ts'
import styles from './top-bar.module.css'
import { Battery, CameraFigures, Earnings, Latency, SessionTime } from './top-bar-figures.tsx'

interface Props {
  readonly cockpit: Cockpit
  readonly session: SessionDetail
  /** The newest known status of the session. */
  readonly status: SessionStatus
  /** When the session was loaded, in Unix milliseconds. */
  readonly fetchedAtMs: number
  readonly readAges: ReadAges
  /** The cameras that the cockpit shows. */
  readonly cameras: readonly WatchedCamera[]
}

const congestionTexts: Record<CongestionCause, string> = {
  unsent_bytes: t('drive.congestion.unsent'),
  latency: t('drive.congestion.latency'),
  unanswered: t('drive.congestion.unanswered'),
}

/** The same texts with the limit of the command rate. */
const rateTexts: Record<CongestionCause, (rate: number) => string> = {
  unsent_bytes: (rate) => t('drive.congestion.unsentRate', { rate }),
  latency: (rate) => t('drive.congestion.latencyRate', { rate }),
  unanswered: (rate) => t('drive.congestion.unansweredRate', { rate }),
}

const congestionText = (cause: CongestionCause, maxRateHz: number | null) =>
  maxRateHz === null ? congestionTexts[cause] : rateTexts[cause](maxRateHz)

/** Shows what the operator must know at a glance: state, freshness, latency, time, earnings, battery, and warnings. */
export function TopBar({ cockpit, session, status, fetchedAtMs, readAges, cameras }: Props) {
  const { operatorConnection } = cockpit
  const link = useStore(operatorConnection.link)
  const state = useStore(operatorConnection.state)
  const recording = useSessionRecording(session.id).data
  const isSilent = useIsSilent(operatorConnection.ages)
  const word = robotWord(link, state, {
    status,
    isStopped: session.control.stop !== null,
    isSilent,
  })
  return (
    <TopBarView
      session={session}
      word={word}
      isSilent={isSilent}
      linkPhase={link.phase}
      freshness={<LiveFreshness readAges={readAges} />}
      latency={
        <Latency operatorConnection={operatorConnection} isSilent={isSilent || word === 'LOST'}>
          <CameraFigures cameras={cameras} />
        </Latency>
      }
      earnings={<Earnings session={session} status={status} fetchedAtMs={fetchedAtMs} isSilent={isSilent} />}
      battery={<Battery operatorConnection={operatorConnection} isSilent={isSilent || word === 'LOST'} />}
      recording={<RecordingMarkView recording={recording} isUnknown={isSilent} />}
      warnings={
        <Warnings cockpit={cockpit} recordingText={isSilent ? undefined : interruptionText(recording)} />
      }
    />
  )
}

interface WarningsProps {
  readonly cockpit: Cockpit
  readonly recordingText: string | undefined
}

/** Shows what slows the robot down, an interrupted recording, and an outage of the hub. */
function Warnings({ cockpit: { operatorConnection }, recordingText }: WarningsProps) {
  const isOnline = useStore(operatorConnection.link).phase === 'online'
  const limitText = speedLimitText(useStore(operatorConnection.limits))
  const { cause, maxRateHz } = useStore(operatorConnection.congestion)
  const hub = useConnection()
  return (
    <>
      <Warning text={isOnline ? limitText : undefined} />
      <Warning text={isOnline && cause ? congestionText(cause, maxRateHz) : undefined} />
      <Warning text={recordingText} />
      {hub !== 'live' && <ConnectionBadge />}
    </>
  )
}

interface TopBarViewProps {
  readonly session: SessionDetail
  /** The state of the robot. */
  readonly word: RobotWord
  /** Whether nothing has arrived from the gateway for a second, so that the figures are only the last known ones. */
  readonly isSilent?: boolean
  readonly linkPhase: LinkView['phase']
  readonly freshness: ReactNode
  readonly latency: ReactNode
  readonly earnings: ReactNode
  readonly battery: ReactNode
  /** The mark of a session that is recorded. */
  readonly recording?: ReactNode
  /** Whether the viewer watches the session and does not drive. */
  readonly isWatching?: boolean
  /** Instances of `Warning`. Each keeps its place while others come and go. */
  readonly warnings: ReactNode
}

const linkTexts: Record<LinkView['phase'], string> = {
  connecting: t('drive.link.connecting'),
  online: t('drive.link.online'),
  offline: t('drive.link.offline'),
  ended: t('drive.link.ended'),
}

/** Lays out the bar at the upper edge of the picture. */
export const TopBarView = ({
  session,
  word,
  isSilent = false,
  linkPhase,
  isWatching = false,
  ...figures
}: TopBarViewProps) => (
  <header className={styles.topBar}>
    <LinkAnchor
      to="/sessions/$sessionId"
      params={{ sessionId: session.id }}
      className={styles.back}
      aria-label={isWatching ? t('drive.watch.leave') : t('drive.topBar.leave')}
      c="inherit"
    >
      ‹
    </LinkAnchor>
    <h1 className={styles.robotName}>{session.robot_name}</h1>
    {isWatching && (
      <Badge className={styles.mark} color="indigo.9" variant="filled" data-testid="watching">
        {t('drive.watch.mark')}
      </Badge>
    )}
    {figures.recording}
    <section aria-label={t('drive.topBar.status')} className={styles.status}>
      <span className={styles.word} role="status">
        <Badge color={robotWordColors[word]} variant="filled">
          {robotWordTexts[word]}
        </Badge>
      </span>
      <span className={styles.link} role="status">
        {isSilent && linkPhase === 'online' ? t('drive.link.silent') : linkTexts[linkPhase]}
      </span>
      <span className={styles.freshness}>{figures.freshness}</span>
      {figures.latency}
      <SessionTime session={session} />
      {figures.earnings}
      {figures.battery}
      <div className={styles.warnings} role="status">
        {figures.warnings}
      </div>
    </section>
  </header>
)

/** Renders a warning below the top bar, or its empty place. */
export const Warning = ({ text }: { text: string | undefined }) => (
  <div className={styles.warning}>
    {text !== undefined && (
      <Badge color="orange.9" variant="filled">
        {text}
      </Badge>
    )}
  </div>
)

/** The state of the robot in one word, as all roles see it. */
type RobotWord = 'DRIVING' | 'PAUSED' | 'STOPPED' | 'LOST' | 'UNKNOWN'

/**
 * Returns the word for the robot: by the gateway while connected, otherwise by the session; unknown while nothing arrives.
 * @param session.isSilent whether nothing has arrived from the gateway for a second
 */
export function robotWord(
  link: LinkView,
  state: DriveState | null,
  session: { readonly status: SessionStatus; readonly isStopped: boolean; readonly isSilent: boolean },
): RobotWord {
  if (session.isSilent) return 'UNKNOWN'
  const isKnown = link.phase === 'online' && state !== null
  if (isKnown && !state.robot_connected) return 'LOST'
  if (isKnown ? state.stop?.latched : session.isStopped) return 'STOPPED'
  return (isKnown ? state.status : session.status) === 'ACTIVE' ? 'DRIVING' : 'PAUSED'
}

const robotWordTexts: Record<RobotWord, string> = {
  DRIVING: robotStateTexts.DRIVING,
  PAUSED: robotStateTexts.PAUSED,
  STOPPED: robotStateTexts.STOPPED,
  LOST: robotStateTexts.LOST,
  UNKNOWN: '?',
}

const robotWordColors: Record<RobotWord, string> = {
  DRIVING: 'teal.9',
  PAUSED: 'orange.9',
  STOPPED: 'red.9',
  LOST: 'red.9',
  UNKNOWN: 'gray.7',
}
