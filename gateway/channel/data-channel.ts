import { ChannelHealth, MAX_CHANNEL_MESSAGE_BYTES } from '@wheelhouse/protocol'
import type { ConnectionChannel, GatewayConnection } from '../base/connection.ts'
import type { TextFrame } from '../base/parse-frame.ts'

/** Carries the requests of channels to the process that has them. */
export interface ChannelPort {
  /** Sends a frame. Returns false if the process does not keep up. */
  send(id: number, frame: string | Uint8Array): boolean
  close(id: number): void
}

/** Why a channel is refused or has ended, for the client. */
export interface ChannelRefusal {
  readonly message: string
  /** When the client may offer again; undefined if it should not. */
  readonly retryAfterMs?: number
}

/** How the end of a channel, its messages and its answer reach the connection that offered it. */
export interface ChannelEvents {
  answered(sdp: string): void
  message(frame: string | Uint8Array): void
  /** Handles the end. Without a refusal, the client has ended the channel, or its network has. */
  closed(refusal: ChannelRefusal | undefined): void
}

/** One data channel of a connection, from its offer to its end. */
export class DataChannel implements ConnectionChannel {
  readonly id: number
  readonly events: ChannelEvents
  readonly #port: ChannelPort
  /** Returns milliseconds with fractions of a clock that never jumps. */
  readonly #preciseMs: () => number
  readonly #health = new ChannelHealth()
  #state: 'offered' | 'open' | 'closed' = 'offered'

  constructor(id: number, port: ChannelPort, events: ChannelEvents, preciseMs: () => number) {
    this.id = id
    this.#port = port
    this.#preciseMs = preciseMs
    this.events = events
  }

  get open(): boolean {
    return this.#state === 'open'
  }

  /** Whether frames may use this channel only: it delivered lately, in both directions. */
  get trusted(): boolean {
    return this.open && this.#health.isTrusted(this.#preciseMs())
  }

  /** Sends a frame that may be lost. Returns false if it was not sent: the channel is not open, or the frame too large. */
  send(frame: string | Uint8Array): boolean {
    // A UTF-16 code unit has at most three bytes in UTF-8.
    const mostBytes = typeof frame === 'string' ? frame.length * 3 : frame.byteLength
    if (!this.open || mostBytes > MAX_CHANNEL_MESSAGE_BYTES) return false
    this.probe()
    return this.#port.send(this.id, frame)
  }

  /** Sends a probe if one is due. Call it while frames pass. Like its answer, a probe may be lost: that is what it measures. */
  probe(): void {
    if (!this.open) return
    const number = this.#health.nextProbe(this.#preciseMs())
    if (number !== undefined) this.#port.send(this.id, `{"type":"probe","n":${number}}`)
  }

  /** Answers a probe of the peer. */
  answerProbe(number: number): void {
    if (this.open) this.#port.send(this.id, `{"type":"probe_answer","n":${number}}`)
  }

  /** Notes the answer to a probe; returns the round trip, undefined for an unknown number. */
  probeAnswered(number: number): number | undefined {
    return this.#health.answered(number, this.#preciseMs())
  }

  /** Notes that the channel is open. Only the channel host calls this. */
  opened(): void {
    if (this.#state === 'offered') this.#state = 'open'
  }

  close(): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#port.close(this.id)
  }
}

/**
 * Handles a probe, or the answer to one.
 * @returns the round trip of an answered probe in milliseconds; null for another probe; undefined for any other frame
 */
export function readProbe({ channel }: GatewayConnection, value: TextFrame): number | null | undefined {
  if (value.type !== 'probe' && value.type !== 'probe_answer') return undefined
  const number = 'n' in value ? value.n : undefined
  if (channel === null || !Number.isSafeInteger(number) || (number as number) < 0) return null
  if (value.type === 'probe') {
    channel.answerProbe(number as number)
    return null
  }
  return channel.probeAnswered(number as number) ?? null
}
