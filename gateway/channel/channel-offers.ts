import { isIP } from 'node:net'
import type { Log } from '../../src/core/log.ts'
import type { Guard } from '../../src/core/process/guard.ts'
import type { GatewayConnection } from '../base/connection.ts'
import {
  type ChannelHost,
  type ChannelSettings,
  type CreateChannelHost,
  createChannelHost,
} from './channel-host.ts'

/** A peer may offer a channel this often: each offer costs keys, memory and a handshake. */
const MIN_OFFER_INTERVAL_MS = 1_000

/** Reads the messages of one kind of connections from their data channels. */
export interface ChannelReader<C extends GatewayConnection> {
  /** Handles the answer to the connection's offer: from now on, frames may arrive in another order than they were sent. */
  answered(connection: C): void
  message(connection: C, frame: string | Uint8Array): void
}

/** Answers the offers of data channels that connections make over their WebSockets. */
function createChannelOffers(deps: {
  /** Null on a gateway without data channels. */
  channelHost: ChannelHost | null
  clockMs: () => number
}) {
  const { channelHost, clockMs } = deps

  function refuse(connection: GatewayConnection, message: string, retryAfterMs?: number): void {
    const retry = retryAfterMs === undefined ? {} : { retry_after_ms: Math.ceil(retryAfterMs) }
    connection.sendIfFlowing(JSON.stringify({ type: 'channel_refused', message, ...retry }), clockMs())
  }

  return {
    /** Announces that offers are welcome. Call it once the connection is admitted. */
    announce(connection: GatewayConnection): void {
      if (channelHost) connection.send('{"type":"channel_available"}', clockMs())
    },

    /** Answers one offer. The channel replaces an earlier one of the connection. */
    offer<C extends GatewayConnection>(connection: C, sdp: string, reader: ChannelReader<C>): void {
      const nowMs = clockMs()
      connection.recordWellFormed()
      if (!channelHost) return refuse(connection, 'This gateway has no data channels. Use the WebSocket.')
      const waitMs = connection.lastOfferMs + MIN_OFFER_INTERVAL_MS - nowMs
      if (waitMs > 0) return refuse(connection, 'Wait before the next offer.', waitMs)
      connection.recordOffer(nowMs)
      const result = channelHost.offer(sdp, {
        answered(answer) {
          reader.answered(connection)
          connection.send(JSON.stringify({ type: 'channel_answer', sdp: answer }), clockMs())
        },
        message(frame) {
          if (connection.channel === result) reader.message(connection, frame)
        },
        closed(refusal) {
          if (connection.channel !== result) return
          connection.setChannel(null)
          if (refusal) refuse(connection, refusal.message, refusal.retryAfterMs)
        },
      })
      if ('retryAfterMs' in result)
        return refuse(connection, 'No data channel is available now. Use the WebSocket.', result.retryAfterMs)
      connection.setChannel(result)
    },
  }
}
export type ChannelOffers = ReturnType<typeof createChannelOffers>

/** Settings of the data channels. Without a port, they use the number of the WebSocket's port, over UDP. */
export interface DataChannelSettings extends Pick<ChannelSettings, 'publicAddress'> {
  readonly port: number | undefined
}

/**
 * Creates the data channels of a gateway.
 * @param createHost tests of control without sockets replace it
 */
export function createGatewayChannels(
  deps: {
    /** Null to use WebSockets only. */
    settings: DataChannelSettings | null
    host: string
    /** Returns the port of the WebSockets, once it is known. */
    webSocketPort: () => number
    guard: Guard
    log: Log
    clockMs: () => number
  },
  createHost: CreateChannelHost = createChannelHost,
) {
  const { settings, host, webSocketPort, guard, log, clockMs } = deps
  const channelHost =
    settings &&
    createHost({
      settings: () => ({
        bindAddress: bindAddressOf(host),
        port: settings.port ?? webSocketPort(),
        publicAddress: settings.publicAddress,
      }),
      guard,
      log,
      clockMs,
      preciseMs: () => performance.now(),
    })
  return {
    offers: createChannelOffers({ channelHost, clockMs }),
    close(): void {
      channelHost?.close()
    },
  }
}

/** Returns the address on which the data channels listen; undefined for all addresses. */
const bindAddressOf = (host: string): string | undefined =>
  isIP(host) === 0 ? (host === 'localhost' ? '127.0.0.1' : undefined) : host
