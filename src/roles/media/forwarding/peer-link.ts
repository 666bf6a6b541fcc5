import { PeerConnection } from 'node-datachannel'
import type { Log } from '../../../core/log.ts'
import type { Guard } from '../../../core/process/guard.ts'
import { answerWithCandidates } from '../../../core/webrtc/session-description.ts'
import { withRelayCandidates } from './answer.ts'
import type { MediaSettings } from './media-messages.ts'
import type { RelayDoor } from './relay-door.ts'

/** A peer that is not connected after this time is closed. */
const CONNECT_LIMIT_MS = 10_000

/** The events of a peer. */
export interface PeerEvents {
  answered(sdp: string): void
  closed(reason: string): void
}

/** The parts of the process that every peer uses. */
export interface PeerEnvironment {
  readonly settings: MediaSettings
  /** Undefined without TURN servers over TCP or TLS. */
  readonly relayDoor: RelayDoor | undefined
  readonly guard: Guard
  readonly log: Log
  /** Unix time in milliseconds, with fractions. */
  readonly nowMs: () => number
}

/** The WebRTC connection of one peer. All peers share one UDP port. */
export class PeerLink {
  readonly #events: PeerEvents
  readonly #connection: PeerConnection
  readonly #timer: NodeJS.Timeout
  #leaveDoor: (() => void) | undefined
  #closed = false

  /** Creates the connection. `manual` leaves the answer to the caller, which adds its tracks before. */
  constructor(id: number, environment: PeerEnvironment, events: PeerEvents, { manual }: { manual: boolean }) {
    const { settings, relayDoor, guard } = environment
    this.#events = events
    this.#connection = new PeerConnection(`peer-${id}`, {
      iceServers: [],
      ...(settings.bindAddress !== undefined && { bindAddress: settings.bindAddress }),
      enableIceUdpMux: true,
      portRangeBegin: settings.port,
      portRangeEnd: settings.port,
      disableAutoNegotiation: manual,
    })
    this.#timer = guard.timer('media:connect-limit', () => this.close('not connected in time'))(
      CONNECT_LIMIT_MS,
    )
    const onCandidates = guard.handler('media:candidates', (state: string) => {
      const answer = state === 'complete' && !this.#closed ? this.#connection.localDescription() : null
      if (!answer) return
      const sdp = answerWithCandidates(answer.sdp, settings)
      this.#leaveDoor = relayDoor?.admit(sdp)
      events.answered(relayDoor ? withRelayCandidates(sdp, relayDoor.port) : sdp)
    })
    const onState = guard.handler('media:state', (state: string) => {
      if (state === 'connected') clearTimeout(this.#timer)
      if (state === 'failed' || state === 'closed' || state === 'disconnected') this.close(`ICE ${state}`)
    })
    this.#connection.onGatheringStateChange(onCandidates)
    this.#connection.onStateChange(onState)
  }

  /** Runs the negotiation, and closes the connection if the library rejects the offer. */
  negotiate(work: (connection: PeerConnection) => void): void {
    try {
      work(this.#connection)
    } catch (cause) {
      this.close('the offer was rejected')
      throw cause
    }
  }

  /** Closes the connection and reports the reason, once. */
  close(reason: string): void {
    if (this.#closed) return
    this.#closed = true
    clearTimeout(this.#timer)
    this.#leaveDoor?.()
    this.#connection.close()
    this.#events.closed(reason)
  }
}
