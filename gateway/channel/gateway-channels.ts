import { isIP } from 'node:net'
import type { Log } from '../../src/core/log.ts'
import type { Guard } from '../../src/core/process/guard.ts'
import { type CreateChannelHost, createChannelHost } from './channel-host.ts'
import type { ChannelSettings } from './channel-messages.ts'
import { createChannelOffers } from './channel-offers.ts'

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
