import type { DriveBattery, DriveState } from '@wheelhouse/protocol'
import { type GetTicket, type LinkEnd, OperatorLink } from '@wheelhouse/sdk'
import { createTelemetryFeed, type TelemetryFeed } from '../telemetry/feed.ts'
import { messageOf, sentence } from '../ui/message-of.ts'
import { createStore, type Store } from '../ui/store.ts'
import type { DriveCommand } from './axes.ts'
import { createLatencyStats, type LatencyStats } from './latency-stats.ts'

/** How this page is connected to the gateway. */
export interface LinkView {
  readonly phase: 'connecting' | 'online' | 'offline' | 'ended'
  /** Why the last attempt failed; undefined while online. */
  readonly problem?: string
  /** Why it ended for good. */
  readonly end?: LinkEnd
}

/** The page's hold on the wheel of one session: a link that can be made anew. */
export interface OperatorConnection {
  readonly link: Store<LinkView>
  /** Session, robot and stop as last heard from the gateway. */
  readonly state: Store<DriveState | null>
  /** Charge of the robot as last reported. */
  battery(): DriveBattery | undefined
  readonly telemetry: TelemetryFeed
  readonly latencyStats: LatencyStats
  /** Whether a command would be obeyed, for all that is known. */
  canDrive(): boolean
  control(command: DriveCommand): void
  /** Stops over the gateway; see `SessionLink.stop`. */
  stop(reason: string): Promise<void>
  /** Gives up a stop that the gateway has not recorded, because somebody has cleared it on another way. */
  forgetStop(): void
  /** Takes the wheel (again): whoever has it now loses it. */
  takeOver(): void
  close(): void
}

export function createOperatorConnection(getTicket: GetTicket): OperatorConnection {
  const view = createStore<LinkView>({ phase: 'connecting' })
  const state = createStore<DriveState | null>(null)
  const telemetry = createTelemetryFeed()
  const latencyStats = createLatencyStats()
  let battery: DriveBattery | undefined
  let link: OperatorLink | undefined

  function begin(): void {
    const current = () => newLink === link
    const newLink: OperatorLink = new OperatorLink({
      getTicket,
      ...telemetry.handlers,
      onState: (next) => state.set(next),
      onBattery: (next) => {
        battery = next
      },
      onAck: (_seq, roundTripMs) => latencyStats.acknowledged(roundTripMs),
      onDropped: (_seq, why) => latencyStats.dropped(why),
      onLatency: (latency) => latencyStats.latency(latency),
      onConnection: (phase) => {
        if (!current()) return
        view.update(({ problem }) => (phase === 'online' ? { phase } : { phase, problem }))
      },
      onError: (cause) => {
        console.warn('gateway:', cause)
        const problem = sentence(messageOf(cause))
        if (current()) view.update((old) => (old.phase === 'online' ? old : { ...old, problem }))
      },
      onClosed: (end) => {
        if (current()) view.set({ phase: 'ended', end })
      },
    })
    link = newLink
    view.set({ phase: 'connecting' })
    // Whatever goes wrong is told by `onClosed`.
    newLink.connect().catch(() => undefined)
  }

  function end(): void {
    const old = link
    link = undefined
    void old?.close()
  }

  begin()
  return {
    link: view,
    state,
    telemetry,
    latencyStats,
    battery: () => battery,
    canDrive() {
      const now = state.get()
      const free = now?.status === 'ACTIVE' && now.robot_connected && now.stop?.latched !== true
      return free && view.get().phase === 'online' && link?.stopPending === false
    },
    control: (command) => void link?.control(command),
    stop: (reason) => link?.stop(reason) ?? Promise.reject(new Error('there is no link')),
    forgetStop() {
      if (!link?.stopPending) return
      end()
      begin()
    },
    takeOver() {
      end()
      begin()
    },
    close: end,
  }
}
