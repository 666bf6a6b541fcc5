import type { SessionStatus } from '@wheelhouse/protocol'
import type { CongestionCause } from '@wheelhouse/sdk'
import { ConnectionBadge } from '../live/connection-badge.tsx'
import { FreshnessBadge } from '../live/freshness-badge.tsx'
import type { ReadAges } from '../live/use-freshness.ts'
import { useFreshness, useIsSilent } from '../live/use-freshness.ts'
import { useConnection } from '../platform/use-live.ts'
import { interruptionText, RecordingMarkView } from '../recording/recording-mark.tsx'
import { useSessionRecording } from '../recording/use-recordings.ts'
import type { SessionDetail } from '../session/session-query.ts'
import { speedLimitText } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import { useStore } from '../ui/store.ts'
import type { WatchedCamera } from '../video/use-cameras.ts'
import { Battery } from './battery.tsx'
import { CameraFigures } from './camera-figures.tsx'
import type { Cockpit } from './cockpit.ts'
import { robotWord } from './cockpit-state.ts'
import { Latency } from './latency.tsx'
import { Earnings } from './session-time.tsx'
import { TopBarView, Warning } from './top-bar-view.tsx'

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
      freshness={<Freshness readAges={readAges} />}
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

const Freshness = ({ readAges }: { readAges: ReadAges }) => (
  <FreshnessBadge freshness={useFreshness(readAges)} />
)

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
