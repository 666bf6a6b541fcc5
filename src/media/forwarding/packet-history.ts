import type { rtp } from '@wheelhouse/protocol'

/** Packets that are remembered: about a second of video at 6 Mbit/s. A power of two. */
const SIZE = 1_024

interface StoredPacket {
  readonly sequenceNumber: number
  readonly timestamp: number
  /** The packet without extensions. Its header is the one of the viewer that it was last sent to. */
  readonly packet: Uint8Array
}

/** The newest packets of a stream, to be sent again to viewers that lost them. All viewers share it. */
export class PacketHistory {
  readonly #packets = new Array<StoredPacket | undefined>(SIZE)

  add({ sequenceNumber, timestamp }: rtp.RtpHeader, packet: Uint8Array): void {
    this.#packets[sequenceNumber % SIZE] = { sequenceNumber, timestamp, packet }
  }

  /** Returns a packet by its original sequence number; undefined if it was lost or is too old. */
  get(sequenceNumber: number): StoredPacket | undefined {
    const stored = this.#packets[sequenceNumber % SIZE]
    return stored?.sequenceNumber === sequenceNumber ? stored : undefined
  }
}
