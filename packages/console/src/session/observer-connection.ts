import type { DriveBattery, DriveLatency, DriveLog, DriveState } from '@wheelhouse/protocol'
import { type GetTicket, ObserverLink } from '@wheelhouse/sdk'
import { createTelemetryFeed, type SubscribeTelemetry } from '../telemetry/feed.ts'
import { createStore, type Store } from '../ui/store.ts'

/** What the gateway says of the robot and of this page's connection to it. */
export interface ObserverState {
  /** `ended`: for good, for `problem`; see `Watching.renew`. */
  readonly connection: 'connecting' | 'online' | 'offline' | 'ended'
  /** As last heard: it is of now only while the connection is online. */
  readonly drive: DriveState | undefined
  /** The round trips between the gateway and either side of the driving, as it last told them. */
  readonly driveLatency: DriveLatency | undefined
  /** From this page to the gateway and back, in milliseconds. */
  readonly roundTripMs: number | undefined
  /** Charge of the robot as last reported. */
  readonly battery: DriveBattery | undefined
  /** What the robot has logged since this page watches, newest first; older lines are dropped. */
  readonly logs: readonly (Pick<DriveLog, 'level' | 'message' | 'at'> & { readonly number: number })[]
  readonly problem: string | undefined
}

/** A connection to the robot of a session, to look on and to stop it. */
export interface ObserverConnection {
  readonly state: Store<ObserverState>
  /** What the robot sends, outside of React. */
  readonly subscribe: SubscribeTelemetry
  /** Stops the robot, again over new connections until it is recorded. Rejects when the connection ends for good. */
  stop(reason?: string): Promise<void>
  /** Forgets a stop that was recorded on another way while there was no connection: it may be cleared by now. */
  forgetStop(): void
  /** Connects anew, also after an end. */
  reconnect(): void
  close(): void
}

const nothing: ObserverState = {
  connection: 'connecting',
  drive: undefined,
  driveLatency: undefined,
  roundTripMs: undefined,
  battery: undefined,
  logs: [],
  problem: undefined,
}

/** Log lines that are shown at most. */
const MAX_LOGS = 100

export function createObserverConnection(getTicket: GetTicket): ObserverConnection {
  const state = createStore(nothing)
  const telemetry = createTelemetryFeed()
  let link = openLink()

  function openLink(): ObserverLink {
    const isCurrent = () => link === newLink
    const change = (next: Partial<ObserverState>) => {
      if (isCurrent()) state.update((old) => ({ ...old, ...next }))
    }
    const newLink = new ObserverLink({
      ...telemetry.handlers,
      getTicket,
      onConnection: (connection) => change({ connection }),
      onState: (drive) => change({ drive }),
      onBattery: (battery) => change({ battery }),
      onLog: ({ level, message, at }) => {
        const { logs } = state.get()
        const number = (logs[0]?.number ?? 0) + 1
        change({ logs: [{ level, message, at, number }, ...logs.slice(0, MAX_LOGS - 1)] })
      },
      onLatency: (driveLatency) => change({ driveLatency, roundTripMs: newLink.latency?.roundTripMs }),
      onClosed: ({ reason }) => change({ connection: 'ended', problem: reason }),
      onError: (cause) => console.warn('watching:', cause),
    })
    // After `link` was set, so that the first change counts. A failure is told to `onClosed`.
    queueMicrotask(() => newLink.connect().catch(() => {}))
    return newLink
  }

  const closeLink = () => void link.close()
  const reconnect = () => {
    closeLink()
    const { drive, battery, logs } = state.get()
    state.set({ ...nothing, drive, battery, logs })
    link = openLink()
  }
  return {
    state,
    subscribe: telemetry.subscribe,
    reconnect,
    close: closeLink,
    stop: (reason) => link.stop(reason),
    forgetStop() {
      if (link.stopPending && link.connection !== 'online') reconnect()
    },
  }
}
