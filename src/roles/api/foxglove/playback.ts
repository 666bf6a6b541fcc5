import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import type { Log } from '../../../core/log.ts'
import type { Guard } from '../../../core/process/guard.ts'
import type { ClientConnection, ConnectionSource } from './client-connection.ts'
import type { PlaybackRequest } from './client-messages.ts'
import { closings } from './closings.ts'
import { PlaybackClock } from './playback-clock.ts'
import type { RecordedChannels } from './recorded-channels.ts'
import { closeUnreadable } from './unreadable-recording.ts'
import { type PlaybackState, playbackStateMessage, SDK_PROTOCOL, serverInfo, type TimeRange } from './wire.ts'

/**
 * Sends the state of channels at a position: the last message of each, and of video all messages since the last keyframe.
 * Ends early when the signal is aborted.
 */
async function sendRecordedState(
  connection: ClientConnection,
  recorded: RecordedChannels,
  at: { channelIds: readonly number[]; positionNs: bigint; signal: AbortSignal },
): Promise<void> {
  const { channelIds, positionNs, signal } = at
  const keyframes = new Map<number, bigint>()
  for (const channelId of channelIds) {
    if (recorded.isVideo(channelId)) {
      const keyframeNs = await recorded.keyframeBefore(channelId, positionNs, signal)
      if (keyframeNs !== undefined) keyframes.set(channelId, keyframeNs)
    } else {
      const last = await recorded.lastBefore(channelId, positionNs)
      if (last && !signal.aborted) connection.publish(channelId, recorded.toMessage(last))
    }
    if (signal.aborted) return
  }
  await sendVideo(connection, recorded, { keyframes, positionNs, signal })
}

/** Sends the frames of several cameras, each from its keyframe to the position. */
async function sendVideo(
  connection: ClientConnection,
  recorded: RecordedChannels,
  part: { keyframes: ReadonlyMap<number, bigint>; positionNs: bigint; signal: AbortSignal },
): Promise<void> {
  const { keyframes, positionNs, signal } = part
  const [firstNs] = [...keyframes.values()].sort((one, other) => (one < other ? -1 : 1))
  if (firstNs === undefined) return
  for await (const message of recorded.from([...keyframes.keys()], firstNs, positionNs)) {
    await connection.drained()
    if (signal.aborted) return
    const keyframeNs = keyframes.get(message.channelId)
    if (keyframeNs !== undefined && message.logTime >= keyframeNs)
      connection.publish(message.channelId, recorded.toMessage(message))
  }
}

/** How often the client gets the time. */
const TIME_MS = 50
/** Messages that are sent before other work of the process gets its turn. */
const MESSAGES_PER_TURN = 50

/** A client with playback control that requests nothing for this time, as Lichtblick, would wait for ever. */
const UNREQUESTED_MS = 1_000

type Status = PlaybackState['status']

/**
 * Plays a recording for one client. One run at a time reads the file: each request of the client ends the run at its next
 * message, and the next one begins with the state of the channels at the position.
 */
export class Playback implements ConnectionSource {
  readonly #recorded: RecordedChannels
  readonly #range: TimeRange
  readonly #sessionId: string
  readonly #log: Log
  readonly #clock: PlaybackClock
  readonly #restart: () => void
  readonly #playLater: (ms: number) => NodeJS.Timeout
  #playTimer: NodeJS.Timeout | undefined
  #connection: ClientConnection | undefined
  #status: Status = 'paused'
  /** Channels that need their state at the position. */
  readonly #outdated = new Set<number>()
  #abort = new AbortController()
  #running: Promise<void> | undefined
  #isPending = false
  #seeks = 0
  #timeSentAtMs = 0

  constructor(deps: {
    readonly recorded: RecordedChannels
    readonly range: TimeRange
    readonly sessionId: string
    readonly guard: Guard
    readonly log: Log
  }) {
    this.#recorded = deps.recorded
    this.#range = deps.range
    this.#sessionId = deps.sessionId
    this.#log = deps.log
    this.#clock = new PlaybackClock(deps.range.startNs)
    const fail = () => this.#connection?.close(closings.internalError)
    this.#restart = deps.guard.handler('foxglove:playback', () => this.#runAgain(), fail)
    this.#playLater = deps.guard.timer('foxglove:play', () => this.#playUnrequested(), fail)
  }

  /**
   * Begins. A client without playback control gets the recording once, at its speed, from its first subscription on; one with it that
   * requests nothing gets it after a second.
   */
  start(connection: ClientConnection): void {
    this.#connection = connection
    const isControlled = connection.protocol === SDK_PROTOCOL
    const range = isControlled ? this.#range : undefined
    connection.send(serverInfo({ name: 'Wheelhouse, recording', sessionId: this.#sessionId, range }))
    connection.advertise(this.#recorded.channels)
    connection.sendTime(this.#range.startNs)
    if (!isControlled) return
    this.#sendState({ didSeek: false, requestId: '' })
    this.#playTimer = this.#playLater(UNREQUESTED_MS)
  }

  #playUnrequested(): void {
    this.#play()
    this.#sendState({ didSeek: false, requestId: '' })
    this.#restart()
  }

  subscribed(connection: ClientConnection, channelId: number): void {
    this.#outdated.add(channelId)
    if (connection.protocol !== SDK_PROTOCOL && this.#status === 'paused') this.#play()
    this.#restart()
  }

  unsubscribed(_connection: ClientConnection, channelId: number): void {
    this.#outdated.delete(channelId)
    this.#restart()
  }

  playbackRequested(connection: ClientConnection, request: PlaybackRequest): void {
    if (connection.protocol !== SDK_PROTOCOL)
      return connection.sendStatus('warning', `Playback control needs the subprotocol ${SDK_PROTOCOL}.`)
    clearTimeout(this.#playTimer)
    const { command, speed, seekToNs, requestId } = request
    if (!this.#clock.setSpeed(speed)) connection.sendStatus('warning', 'The speed is not a positive number.')
    if (seekToNs !== undefined) this.#seek(connection, seekToNs)
    if (command === 'pause' && this.#status === 'playing') this.#status = 'paused'
    if (command === 'play' && this.#status === 'paused') this.#play()
    this.#sendState({ didSeek: seekToNs !== undefined, requestId })
    connection.sendTime(this.#clock.positionNs)
    this.#restart()
  }

  closed(): void {
    clearTimeout(this.#playTimer)
    this.#abort.abort()
    this.#connection = undefined
  }

  #play(): void {
    this.#status = 'playing'
    this.#clock.startAt(this.#clock.positionNs)
  }

  #seek(connection: ClientConnection, timeNs: bigint): void {
    const { startNs, endNs } = this.#range
    this.#seeks++
    this.#clock.startAt(timeNs < startNs ? startNs : timeNs > endNs ? endNs : timeNs)
    if (this.#status === 'ended') this.#status = 'paused'
    connection.discardWaiting()
    for (const channelId of connection.subscribedChannels) this.#outdated.add(channelId)
  }

  #sendState({ didSeek, requestId }: Pick<PlaybackState, 'didSeek' | 'requestId'>): void {
    const { positionNs: timeNs, speed } = this.#clock
    this.#connection?.send(playbackStateMessage({ status: this.#status, timeNs, speed, didSeek, requestId }))
  }

  /** Ends the current run, and begins one for the current position and subscriptions after it. */
  async #runAgain(): Promise<void> {
    this.#abort.abort()
    if (this.#isPending) return
    this.#isPending = true
    await this.#running
    this.#isPending = false
    const connection = this.#connection
    if (!connection) return
    this.#abort = new AbortController()
    this.#running = this.#run(connection, this.#abort.signal).catch((cause) =>
      closeUnreadable(connection, cause, this.#log),
    )
    await this.#running
  }

  async #run(connection: ClientConnection, signal: AbortSignal): Promise<void> {
    await this.#sendOutdated(connection, signal)
    if (signal.aborted || this.#status !== 'playing') return
    this.#clock.startAt(this.#clock.positionNs)
    await this.#sendFollowing(connection, signal)
    if (await this.#waitFor(this.#range.endNs, connection, signal)) this.#end(connection)
  }

  async #sendOutdated(connection: ClientConnection, signal: AbortSignal): Promise<void> {
    const channelIds = [...this.#outdated]
    const { positionNs } = this.#clock
    await sendRecordedState(connection, this.#recorded, { channelIds, positionNs, signal })
    if (!signal.aborted) for (const channelId of channelIds) this.#outdated.delete(channelId)
  }

  /** Sends the messages after the position, each at its time. */
  async #sendFollowing(connection: ClientConnection, signal: AbortSignal): Promise<void> {
    const seeks = this.#seeks
    let count = 0
    let sentNs = this.#clock.positionNs
    for await (const message of this.#recorded.from(connection.subscribedChannels, sentNs + 1n)) {
      // A run that ends between messages of the same time sends all of them: the next one begins after that time.
      const isNext = message.logTime !== sentNs
      if (isNext && !(await this.#waitFor(message.logTime, connection, signal))) return
      if (this.#seeks !== seeks || !connection.isOpen) return
      sentNs = message.logTime
      connection.publish(message.channelId, this.#recorded.toMessage(message))
      if (++count % MESSAGES_PER_TURN === 0) await nextTurn()
    }
  }

  /** Waits for a time of the recording, and sends the time in between. Returns false when the run was ended. */
  async #waitFor(timeNs: bigint, connection: ClientConnection, signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted) {
      const leftMs = this.#clock.advanceTo(timeNs)
      this.#sendTimeAtTimes(connection)
      if (leftMs === 0) return true
      await delay(Math.min(TIME_MS, Math.ceil(leftMs)), undefined, { signal }).catch(() => {})
    }
    return false
  }

  #sendTimeAtTimes(connection: ClientConnection): void {
    const nowMs = performance.now()
    if (nowMs - this.#timeSentAtMs < TIME_MS - 1) return
    this.#timeSentAtMs = nowMs
    connection.sendTime(this.#clock.positionNs)
  }

  #end(connection: ClientConnection): void {
    this.#status = 'ended'
    connection.sendTime(this.#range.endNs)
    if (connection.protocol === SDK_PROTOCOL) this.#sendState({ didSeek: false, requestId: '' })
    else connection.sendStatus('info', 'The recording is over. Connect again to play it again.')
  }
}
