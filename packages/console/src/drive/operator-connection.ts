import {
  type Autonomy,
  type DriveState,
  FULL_SPEED,
  type LeaseFrame,
  type SpeedLimits,
} from '@wheelhouse/protocol'
import {
  type Congestion,
  type GetTicket,
  type GoalTarget,
  type LinkEnd,
  NO_CONGESTION,
  OperatorLink,
} from '@wheelhouse/sdk'
import { messageOf, sentence } from '../base/message-of.ts'
import { createStore } from '../base/store.ts'
import { linkAgesOf, PING_MS } from '../freshness/freshness.ts'
import { createTelemetryFeed } from '../telemetry/feed.ts'
import { dropTexts } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import type { VideoWatch } from '../video/watch-video.ts'
import type { ControlData } from './control-plan.ts'
import { type BatteryReading, createBatteryTrend, createLatencyStats } from './measurements.ts'

/** The longest delay between two attempts to connect, because a robot waits for its operator. */
const MAX_RECONNECT_MS = 1_000

export interface LinkView {
  readonly phase: 'connecting' | 'online' | 'offline' | 'ended'
  /** Why the last attempt failed; undefined while online. */
  readonly problem?: string
  /** Why the connection ended without another attempt. */
  readonly end?: LinkEnd
}

/** The goal that this page sent last, until the robot has reported it. */
export interface SentGoal {
  readonly target: GoalTarget
  /** Both undefined if it was not sent. */
  readonly seq?: number
  readonly goalId?: string
  /** Why it did not reach the robot; undefined while that is unknown. */
  readonly refusal?: string
}

interface ShownCamera {
  readonly name: string
  readonly watch: Pick<VideoWatch, 'capturedMs'>
}

/** The operator's connection to one session. It can be replaced by a new link. */
export type OperatorConnection = ReturnType<typeof createOperatorConnection>

/** @param isOperator whether the user is the operator of the session, who holds control until it changes hands */
export function createOperatorConnection(getTicket: GetTicket, isOperator: boolean) {
  const view = createStore<LinkView>({ phase: 'connecting' })
  const state = createStore<DriveState | null>(null)
  const limits = createStore<SpeedLimits>(FULL_SPEED)
  const congestion = createStore<Congestion>(NO_CONGESTION)
  const telemetry = createTelemetryFeed()
  const latencyStats = createLatencyStats()
  const batteryTrend = createBatteryTrend()
  const battery = createStore<BatteryReading | undefined>(undefined)
  const isPictureRefused = createStore(false)
  const lease = createStore<LeaseFrame | null>(null)
  const autonomy = createStore<Autonomy | null>(null)
  const sentGoal = createStore<SentGoal | undefined>(undefined)
  let link: OperatorLink | undefined
  let picture: Pick<VideoWatch, 'pictureMs'> | undefined
  let shownCameras: readonly ShownCamera[] = []
  const videoAgeMs = () => {
    const ageMs = picture?.pictureMs()
    return ageMs === 'unknown' ? null : ageMs
  }
  const seenPictures = () =>
    Object.fromEntries(
      shownCameras.flatMap(({ name, watch }) => {
        const capturedMs = watch.capturedMs()
        return capturedMs === undefined ? [] : [[name, performance.timeOrigin + capturedMs]]
      }),
    )
  const ages = linkAgesOf({ telemetry, silentMs: () => link?.silentMs ?? null })

  function openLink(): void {
    const isCurrent = () => newLink === link
    const newLink: OperatorLink = new OperatorLink({
      getTicket,
      reconnect: { maxMs: MAX_RECONNECT_MS },
      pingMs: PING_MS,
      videoAgeMs,
      seenPictures,
      ...telemetry.handlers,
      onState: (next) => {
        state.set(next)
        if (isCurrent()) autonomy.set(newLink.autonomy) // it is unknown from a loss of the robot on
      },
      onAutonomy: (next) => {
        if (!isCurrent()) return
        autonomy.set(next)
        sentGoal.update((sent) => (sent?.goalId === next.goal?.goal_id ? undefined : sent))
      },
      onLease: (next) => isCurrent() && lease.set(next),
      onLimits: (next) => limits.set(next),
      onCongestion: (next) => isCurrent() && congestion.set(next),
      onBattery: ({ battery: charge, at }) => {
        batteryTrend.add(charge, at)
        battery.set(batteryTrend.read())
      },
      onAck: (_seq, roundTripMs) => {
        latencyStats.acknowledged(roundTripMs)
        isPictureRefused.set(false)
      },
      onDropped: (seq, reason) => {
        latencyStats.dropped(reason)
        if (isCurrent())
          sentGoal.update((sent) => (sent?.seq === seq ? { ...sent, refusal: dropTexts[reason] } : sent))
        isPictureRefused.set(reason === 'video_stale')
      },
      onLatency: (latency) => latencyStats.latency(latency),
      onConnection: (phase) => {
        if (!isCurrent()) return
        view.update(({ problem }) => (phase === 'online' ? { phase } : { phase, problem }))
      },
      onError: (cause) => {
        console.warn('gateway:', cause)
        const problem = sentence(messageOf(cause))
        if (isCurrent()) view.update((old) => (old.phase === 'online' ? old : { ...old, problem }))
      },
      onClosed: (end) => {
        if (isCurrent()) view.set({ phase: 'ended', end })
      },
    })
    link = newLink
    limits.set(newLink.limits)
    autonomy.set(null)
    sentGoal.set(undefined)
    congestion.set(newLink.congestion)
    view.set({ phase: 'connecting' })
    // `onClosed` reports failures.
    newLink.connect().catch(() => undefined)
  }

  function closeLink(): void {
    const old = link
    link = undefined
    void old?.close()
  }

  /** Connects again. Another window of this user that drives loses its connection. */
  function takeOver(): void {
    closeLink()
    openLink()
  }

  const holds = () => lease.get()?.you ?? isOperator

  /** Returns whether the robot would accept a command of who holds control, as far as this page knows. */
  function isReady(): boolean {
    const drive = state.get()
    const ready = drive?.status === 'ACTIVE' && drive.robot_connected && drive.stop?.latched !== true
    return ready && view.get().phase === 'online' && link?.stopPending === false
  }

  const canDrive = () => isReady() && holds()

  openLink()
  return {
    link: view,
    /** The newest control lease; null while control has not changed hands. */
    lease,
    /** Whether this user holds control. */
    holds,
    isReady,
    /** The last state of session, robot and stop from the gateway. */
    state,
    /** The speed that the latency allows. */
    limits,
    /** The load of the connection, and the limit of the command rate because of it. */
    congestion,
    telemetry,
    ages,
    /** Reports with the commands the age of the large picture, undefined for a robot without a camera, and which pictures are shown. */
    showPictures(main: Pick<VideoWatch, 'pictureMs'> | undefined, shown: readonly ShownCamera[]): void {
      picture = main
      shownCameras = shown
    },
    latencyStats,
    /** Whether the gateway rejected the last answered command because of the picture. */
    isPictureRefused,
    transport: () => link?.transport ?? 'websocket',
    battery,
    /** Returns whether the robot would accept a command of this page, as far as this page knows. */
    canDrive,
    /** What the robot does by itself; null while it does not say. */
    autonomy,
    sentGoal,
    /** Sends the robot to a place, or notes why not. */
    goal(target: GoalTarget): void {
      const sent = canDrive() ? link?.goal(target) : null
      sentGoal.set({ target, ...(sent ?? { refusal: t('drive.goal.notReady') }) })
    },
    /** Cancels the goal of the robot. */
    cancelGoal: (): boolean => link?.cancelGoal() === true,
    /** Sends a command. `urgent`: at once, also on a congested connection. Returns whether it is on its way. */
    control: (command: ControlData, urgent: boolean) =>
      link !== undefined && link.control(command, { urgent }) !== null,
    /** Requests a stop over the gateway; see `SessionLink.stop`. */
    stop: (reason: string): Promise<void> =>
      link?.stop(reason) ?? Promise.reject(new Error(t('drive.stop.notConnected'))),
    /** Drops a stop that the gateway has not recorded, after it was cleared over another route. */
    forgetStop(): void {
      if (link?.stopPending) takeOver()
    },
    takeOver,
    close: closeLink,
  }
}
