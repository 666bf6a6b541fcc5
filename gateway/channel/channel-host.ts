import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Log } from '../../src/core/log.ts'
import type { Guard } from '../../src/core/process/guard.ts'
import {
  type ChannelSettings,
  type FromChannelProcess,
  MAX_WAITING_MESSAGES,
  type ToChannelProcess,
} from './channel-messages.ts'
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
  let channelProcess: ChildProcess | undefined
  let restartAtMs = 0
  let lastId = 0
  let waiting = 0
  let stopped = false

  const port: ChannelPort = {
    send(id, frame) {
      if (waiting >= MAX_WAITING_MESSAGES) return false
      return post({ type: 'send', id, frame })
    },
    close(id) {
      channels.delete(id)
      post({ type: 'close', id })
    },
  }
  const sent = guard.handler('channel:sent', () => {
    waiting = Math.max(0, waiting - 1) // an ended process also answers late
  })

  function post(message: ToChannelProcess): boolean {
    if (!channelProcess?.connected) return false
    waiting++
    channelProcess.send(message, sent)
    return true
  }

  /** Starts the process, unless the system refuses it, which must not end the connection that offers. */
  function tryStart(): ChildProcess | undefined {
    try {
      return start()
    } catch (cause) {
      restartAtMs = clockMs() + RESTART_MS
      log.warn({ err: cause }, 'cannot start the process of the data channels; frames use the WebSockets')
      return undefined
    }
  }

  function start(): ChildProcess {
    const program = fileURLToPath(new URL('./channel-process.ts', import.meta.url))
    const started = fork(program, [JSON.stringify(settings())], {
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: {}, // no secrets of the gateway
    })
    guard.on(started, 'message', 'channel:message', onMessage)
    // After an exception in between, the handler runs again: without it, no later offer would be answered.
    const onError = (cause: Error) => ended(started, cause.message)
    const onExit = (code: number | null, signal: string | null) =>
      ended(started, `exit code ${code}, signal ${signal}`)
    guard.on(started, 'error', 'channel:exit', onError, onError)
    guard.on(started, 'exit', 'channel:exit', onExit, onExit)
    return started
  }

  /** Closes all channels: the process that had them has ended. */
  function ended(process: ChildProcess, reason: string): void {
    if (channelProcess !== process) return
    channelProcess = undefined
    waiting = 0
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
      if (stopped || (!channelProcess && waitMs > 0)) return { retryAfterMs: Math.max(waitMs, 1_000) }
      channelProcess ??= tryStart()
      if (!channelProcess) return { retryAfterMs: RESTART_MS }
      const channel = new DataChannel(++lastId, port, events, preciseMs)
      channels.set(channel.id, channel)
      post({ type: 'offer', id: channel.id, sdp })
      return channel
    },

    /** Ends the process. */
    close(): void {
      stopped = true
      for (const channel of [...channels.values()]) channel.close()
      channelProcess?.kill('SIGKILL') // it has nothing to save
    },
  }
}
export type CreateChannelHost = typeof createChannelHost
export type ChannelHost = ReturnType<CreateChannelHost>
