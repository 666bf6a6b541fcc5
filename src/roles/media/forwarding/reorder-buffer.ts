import { rtp } from '@wheelhouse/protocol'

/**
 * How long packets wait for one that is missing. It is requested again every 20 ms to one round trip, so that a path with a round
 * trip of 200 ms has two attempts.
 */
const WAIT_MS = 500
/** Packets and bytes that wait at most: a second of video at 6 Mbit/s. */
const [MAX_PACKETS, MAX_BYTES] = [1_024, 4 * 1024 * 1024]

/** A packet of video. */
export interface VideoPacket {
  readonly header: Pick<rtp.RtpHeader, 'sequenceNumber' | 'timestamp' | 'marker'>
  readonly payload: Uint8Array
  readonly arrivedMs: number
}

/** Puts the packets of a stream in order. */
export class ReorderBuffer {
  readonly #deliver: (packet: VideoPacket, isAfterLoss: boolean) => void
  readonly #waiting = new Map<number, VideoPacket>()
  #waitingBytes = 0
  #expected: number | undefined
  #waitsSinceMs = 0

  /** `deliver` receives the packets in order, and whether packets before this one were lost. */
  constructor(deliver: (packet: VideoPacket, isAfterLoss: boolean) => void) {
    this.#deliver = deliver
  }

  receive(packet: VideoPacket): void {
    const { sequenceNumber } = packet.header
    const expected = this.#expected ?? sequenceNumber
    const ahead = rtp.sequenceDistance(expected, sequenceNumber)
    if (Math.abs(ahead) >= MAX_PACKETS) return this.#restart(packet)
    if (ahead < 0 || this.#waiting.has(sequenceNumber)) return // too late, or a copy
    if (ahead === 0) return this.#next(packet, false)
    if (this.#waiting.size === 0) this.#waitsSinceMs = packet.arrivedMs
    this.#waiting.set(sequenceNumber, packet)
    this.#waitingBytes += packet.payload.length
    if (this.#waitingBytes > MAX_BYTES) this.#skip()
    this.expire(packet.arrivedMs)
  }

  /** Gives up packets that have been missing for too long. */
  expire(nowMs: number): void {
    while (this.#waiting.size > 0 && nowMs - this.#waitsSinceMs >= WAIT_MS) this.#skip()
  }

  /** Continues with a packet that is too far from the others: the sender has started again, or all packets between are lost. */
  #restart(packet: VideoPacket): void {
    this.#waiting.clear()
    this.#waitingBytes = 0
    this.#next(packet, true)
  }

  /** Continues with the first packet after those that are missing. */
  #skip(): void {
    const expected = this.#expected ?? 0
    let nearest: VideoPacket | undefined
    let nearestAhead = Number.POSITIVE_INFINITY
    for (const packet of this.#waiting.values()) {
      const ahead = rtp.sequenceDistance(expected, packet.header.sequenceNumber)
      if (ahead < nearestAhead) [nearest, nearestAhead] = [packet, ahead]
    }
    if (!nearest) return
    this.#remove(nearest)
    this.#waitsSinceMs = nearest.arrivedMs
    this.#next(nearest, true)
  }

  #next(packet: VideoPacket, isAfterLoss: boolean): void {
    this.#advance(packet, isAfterLoss)
    if (this.#waiting.size === 0) return
    for (;;) {
      const following = this.#waiting.get(this.#expected as number)
      if (!following) break
      this.#remove(following)
      this.#advance(following, false)
      this.#waitsSinceMs = following.arrivedMs
    }
  }

  #advance(packet: VideoPacket, isAfterLoss: boolean): void {
    this.#expected = (packet.header.sequenceNumber + 1) & 0xffff
    this.#deliver(packet, isAfterLoss)
  }

  #remove(packet: VideoPacket): void {
    this.#waiting.delete(packet.header.sequenceNumber)
    this.#waitingBytes -= packet.payload.length
  }
}
