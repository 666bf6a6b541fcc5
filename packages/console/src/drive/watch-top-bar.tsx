import { useEffect, useState } from 'react'
import type { LinkAges } from '../freshness/freshness.ts'
import { LiveFreshness } from '../freshness/freshness-badge.tsx'
import { type ReadAges, useIsSilent } from '../freshness/use-freshness.ts'
import { useConnection } from '../platform/use-live.ts'
import { interruptionText, RecordingMarkView } from '../recording/recording-mark.tsx'
import { useSessionRecording } from '../recording/use-recordings.ts'
import type { ObserverState } from '../session/observer-connection.ts'
import type { SessionDetail } from '../session/session-query.ts'
import { ConnectionBadge } from '../status/connection-badge.tsx'
import { speedLimitText } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import type { WatchedCamera } from '../video/use-cameras.ts'
import { latencyMs } from './figure-texts.ts'
import { type BatteryReading, createBatteryTrend } from './measurements.ts'
import styles from './top-bar.module.css'
import { robotWord, TopBarView, Warning } from './top-bar.tsx'
import { BatteryFigure, CameraFigures, Earnings, Figure, LatencyFigure } from './top-bar-figures.tsx'

interface Props {
  readonly session: SessionDetail
  /** When the session was loaded, in Unix milliseconds. */
  readonly fetchedAtMs: number
  readonly observerState: ObserverState
  readonly readAges: ReadAges
  /** Returns the ages of the connection of the viewer; stable between renders. */
  readonly readLinkAges: () => LinkAges
  /** The cameras that the view shows. */
  readonly cameras: readonly WatchedCamera[]
}

/** Shows what the operator sees at a glance, marked as watched: state, freshness, latency, time, cost, battery, warnings. */
export function WatchTopBar({ session, fetchedAtMs, observerState, readAges, readLinkAges, cameras }: Props) {
  const { connection: phase, drive, battery } = observerState
  const recording = useSessionRecording(session.id).data
  const isSilent = useIsSilent(readLinkAges)
  const word = robotWord({ phase }, drive ?? null, {
    status: session.status,
    isStopped: session.control.stop !== null,
    isSilent,
  })
  return (
    <TopBarView
      isWatching
      session={session}
      word={word}
      isSilent={isSilent}
      linkPhase={phase}
      freshness={<LiveFreshness readAges={readAges} />}
      latency={
        <Latency observerState={observerState} cameras={cameras} isSilent={isSilent || word === 'LOST'} />
      }
      earnings={
        <Earnings session={session} status={session.status} fetchedAtMs={fetchedAtMs} isSilent={isSilent} />
      }
      battery={<BatteryFigure reading={useBatteryReading(battery)} isSilent={isSilent || word === 'LOST'} />}
      recording={<RecordingMarkView recording={recording} isUnknown={isSilent} />}
      warnings={
        <Warnings
          observerState={observerState}
          recordingText={isSilent ? undefined : interruptionText(recording)}
        />
      }
    />
  )
}

/** Shows the way of a command to the robot and back: the round trips of operator and robot to the gateway. */
function Latency(props: Pick<Props, 'observerState' | 'cameras'> & { readonly isSilent: boolean }) {
  const { observerState, cameras, isSilent } = props
  const { connection, driveLatency, roundTripMs } = observerState
  const { operator_ms: operatorMs = null, robot_ms: robotMs = null } = driveLatency ?? {}
  const isKnown = connection === 'online' && operatorMs !== null && robotMs !== null
  return (
    <LatencyFigure ms={isKnown && !isSilent ? operatorMs + robotMs : undefined}>
      <dl className={styles.detailList}>
        <Figure name={t('drive.latency.yourNetwork')} value={latencyText(roundTripMs)} />
        <Figure name={t('drive.watch.operatorNetwork')} value={latencyText(operatorMs)} />
        <Figure name={t('drive.latency.robotNetwork')} value={latencyText(robotMs)} />
        <CameraFigures cameras={cameras} />
      </dl>
    </LatencyFigure>
  )
}

const latencyText = (ms: number | null | undefined) =>
  ms == null ? t('drive.latency.noData') : latencyMs(ms)

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

/** Shows what slows the robot down, an interrupted recording, and an outage of the hub. */
function Warnings({
  observerState: { connection, limits },
  recordingText,
}: Pick<Props, 'observerState'> & { recordingText: string | undefined }) {
  const limitText = limits && speedLimitText(limits)
  const hub = useConnection()
  return (
    <>
      <Warning text={connection === 'online' ? limitText : undefined} />
      <Warning text={recordingText} />
      {hub !== 'live' && <ConnectionBadge />}
    </>
  )
}
