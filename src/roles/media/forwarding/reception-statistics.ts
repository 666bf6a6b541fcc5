import { rtp } from '@wheelhouse/protocol'

/** Counts packets of a stream for the reports of its receiver (RFC 3550, section 6.4.1 and appendix A). */
export class ReceptionStatistics {
  #cycles = 0
  #first: number | undefined
  #newest = 0
  #received = 0
  #expectedBefore = 0
  #receivedBefore = 0
  #transit: number | undefined
  /** Interarrival jitter in ticks of the codec's clock. */
  jitter = 0

  /** Counts a packet. `arrivalTicks` and `timestamp` are in ticks of the codec's clock. */
  received(sequenceNumber: number, arrivalTicks: number, timestamp: number): void {
    this.#received++
    if (this.#first === undefined) {
      this.#first = sequenceNumber
      this.#newest = sequenceNumber
    } else if (rtp.sequenceDistance(this.#newest, sequenceNumber) > 0) {
      if (sequenceNumber < this.#newest) this.#cycles += 0x10000
      this.#newest = sequenceNumber
    }
    const transit = (arrivalTicks - timestamp) | 0
    if (this.#transit !== undefined)
      this.jitter += (Math.abs((transit - this.#transit) | 0) - this.jitter) / 16
    this.#transit = transit
  }

  /** The newest sequence number with the count of its wraps. */
  get highestSequenceNumber(): number {
    return this.#cycles + this.#newest
  }

  /** Returns the loss since the last call, 0 to 1, and since the beginning. */
  takeLoss(): { fractionLost: number; packetsLost: number } {
    const expected = this.#first === undefined ? 0 : this.highestSequenceNumber - this.#first + 1
    const expectedNow = expected - this.#expectedBefore
    const receivedNow = this.#received - this.#receivedBefore
    this.#expectedBefore = expected
    this.#receivedBefore = this.#received
    const fractionLost = expectedNow <= 0 ? 0 : Math.max(0, expectedNow - receivedNow) / expectedNow
    return { fractionLost, packetsLost: expected - this.#received }
  }
}
