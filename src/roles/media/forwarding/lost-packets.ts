import { rtp } from '@wheelhouse/protocol'

/** Most packets that are requested again at a time. After a larger gap only a keyframe helps. */
const MAX_MISSING = 256
/** Requests for one packet. */
const MAX_ATTEMPTS = 6
/** Time between two requests for the same packet while the round trip is not known. */
const RETRY_MS = 40

interface Missing {
  attempts: number
  nextAtMs: number
}

/** The packets of a stream that did not arrive, and when to request each of them again. */
export class LostPackets {
  readonly #missing = new Map<number, Missing>()
  #newest: number | undefined

  /**
   * Notes the arrival of a packet.
   * @returns false if so many packets are missing that requests are pointless.
   */
  received(sequenceNumber: number, nowMs: number): boolean {
    const newest = this.#newest
    if (newest === undefined) {
      this.#newest = sequenceNumber
      return true
    }
    const distance = rtp.sequenceDistance(newest, sequenceNumber)
    if (distance <= 0) {
      this.#missing.delete(sequenceNumber)
      return true
    }
    this.#newest = sequenceNumber
    if (this.#missing.size + distance > MAX_MISSING) {
      this.#missing.clear()
      return false
    }
    for (let ahead = 1; ahead < distance; ahead++)
      this.#missing.set((newest + ahead) & 0xffff, { attempts: 0, nextAtMs: nowMs })
    return true
  }

  /** Returns the packets to request now. */
  due(nowMs: number, roundTripMs = RETRY_MS): number[] {
    const due: number[] = []
    for (const [sequenceNumber, missing] of this.#missing) {
      if (missing.nextAtMs > nowMs) continue
      if (missing.attempts >= MAX_ATTEMPTS) {
        this.#missing.delete(sequenceNumber)
        continue
      }
      missing.attempts++
      missing.nextAtMs = nowMs + Math.max(RETRY_MS / 2, roundTripMs)
      due.push(sequenceNumber)
    }
    return due
  }
}
