import type { Log } from '../../src/core/log.ts'
import { type ChildLink, startChild } from '../../src/core/process/child-link.ts'
import type { Guard } from '../../src/core/process/guard.ts'
import { type ChannelEvents, type ChannelPort, type ChannelRefusal, DataChannel } from './data-channel.ts'

/** Channels of one gateway. */
const MAX_CHANNELS = 2_000
/** After the channel process failed, the next offer may start it again after this time. */
const RESTART_MS = 5_000

/**
 * Creates the data channels of a gateway. The WebRTC library runs in a process that begins with the first offer: a crash of
 * it closes the channels, whose connections continue over their WebSockets.
 */
export function createChannelHost(deps: {
  /** Read when the process starts: the port may follow from that of the WebSockets. */
  settings: () => ChannelSettings
  guard: Guard
  log: Log
  clockMs: () => number
  preciseMs: () => number
}) {
  const { settings, guard, log, clockMs, preciseMs } = deps
  const channels = new Map<number, DataChannel>()
  let link: ChildLink<ToChannelProcess> | undefined
  let restartAtMs = 0
  let lastId = 0
  let stopped = false

  const port: ChannelPort = {
    // While the process does not keep up, frames are dropped, as on the network.
    send: (id, frame) => link?.send({ type: 'send', id, frame }, { mayDrop: true }) ?? false,
    close(id) {
      channels.delete(id)
      link?.send({ type: 'close', id })
    },
  }

  /** Starts the process, unless the system refuses it, which must not end the connection that offers. */
  function tryStart(): ChildLink<ToChannelProcess> | undefined {
    try {
      const started = startChild<ToChannelProcess, FromChannelProcess>({
        program: new URL('./channel-process.ts', import.meta.url),
        settings: settings(),
        name: 'channel',
        guard,
        onMessage,
        onEnd: (reason) => ended(started, reason),
      })
      return started
    } catch (cause) {
      restartAtMs = clockMs() + RESTART_MS
      log.warn({ err: cause }, 'cannot start the process of the data channels; frames use the WebSockets')
      return undefined
    }
  }

  /** Closes all channels: the process that had them has ended. */
  function ended(process: ChildLink<ToChannelProcess>, reason: string): void {
    if (link !== process) return
    link = undefined
    restartAtMs = clockMs() + RESTART_MS
    if (!stopped)
      log.warn({ reason }, 'the process of the data channels has ended; frames use the WebSockets')
    const refusal = { message: 'The data channel has ended. Use the WebSocket.', retryAfterMs: RESTART_MS }
    for (const id of [...channels.keys()]) closed(id, refusal)
  }

  function closed(id: number, refusal: ChannelRefusal | undefined): void {
    const channel = channels.get(id)
    if (!channel) return
    channel.close()
    channel.events.closed(refusal)
  }

  function onMessage(message: FromChannelProcess): void {
    if (message.type === 'failed') {
      log.warn(
        { port: settings().port, reason: message.message },
        'cannot open the UDP port of the data channels: stop the other program that uses it, or set GATEWAY_UDP_PORT',
      )
      return
    }
    const channel = channels.get(message.id)
    if (!channel) return
    if (message.type === 'answer') channel.events.answered(message.sdp)
    else if (message.type === 'opened') channel.opened()
    else if (message.type === 'message') channel.events.message(message.frame)
    else closed(message.id, message.message === undefined ? undefined : { message: message.message })
  }

  return {
    /** The number of channels, also of those that are not open yet. */
    get size() {
      return channels.size
    },

    /** Opens a channel for an offer; returns after how many milliseconds to try again if that is not possible now. */
    offer(sdp: string, events: ChannelEvents): DataChannel | { readonly retryAfterMs: number } {
      if (channels.size >= MAX_CHANNELS) return { retryAfterMs: 60_000 }
      const waitMs = restartAtMs - clockMs()
      if (stopped || (!link && waitMs > 0)) return { retryAfterMs: Math.max(waitMs, 1_000) }
      link ??= tryStart()
      if (!link) return { retryAfterMs: RESTART_MS }
      const channel = new DataChannel(++lastId, port, events, preciseMs)
      channels.set(channel.id, channel)
      link.send({ type: 'offer', id: channel.id, sdp })
      return channel
    },

    /** Ends the process. */
    close(): void {
      stopped = true
      for (const channel of [...channels.values()]) channel.close()
      link?.process.kill('SIGKILL') // it has nothing to save
    },
  }
}
export type CreateChannelHost = typeof createChannelHost
export type ChannelHost = ReturnType<CreateChannelHost>

// The messages between the gateway and its channel process. `id` is the number of a data channel.

/** Settings of the channel process, given as its argument. */
export interface ChannelSettings {
  /** The address to listen on; undefined for all. */
  readonly bindAddress: string | undefined
  /** The UDP port of all channels. */
  readonly port: number
  /** The IP address that clients use, if it is not an address of this machine. */
  readonly publicAddress: string | undefined
}

export type ToChannelProcess =
  | { readonly type: 'offer'; readonly id: number; readonly sdp: string }
  | { readonly type: 'send'; readonly id: number; readonly frame: string | Uint8Array }
  | { readonly type: 'close'; readonly id: number }

export type FromChannelProcess =
  /** The UDP port could not be opened. The process has exited. */
  | { readonly type: 'failed'; readonly message: string }
  | { readonly type: 'answer'; readonly id: number; readonly sdp: string }
  | { readonly type: 'opened'; readonly id: number }
  | { readonly type: 'message'; readonly id: number; readonly frame: string | Uint8Array }
  | { readonly type: 'closed'; readonly id: number; readonly message?: string }
