import { rtp } from '@wheelhouse/protocol'
import type { IncomingStream } from './incoming-stream.ts'

/** A layer without packets for this time is not sent at present: senders drop the largest ones on a slow path. */
const INACTIVE_MS = 1_000

/** The layers (simulcast) in which a publisher sends its picture, each as a stream. */
export class VideoLayers {
  readonly #names: readonly string[]
  readonly #extensionId: number
  readonly #byName = new Map<string, IncomingStream>()

  constructor(names: readonly string[], extensionId: number) {
    this.#names = names
    this.#extensionId = extensionId
  }

  /**
   * Returns the stream of a packet. The first packets of a layer carry its name. Returns undefined for a packet of no known layer.
   * @param create creates the stream of a new source
   */
  streamOf(
    packet: Uint8Array,
    ssrc: number,
    nowMs: number,
    create: () => IncomingStream,
  ): IncomingStream | undefined {
    for (const stream of this.#byName.values()) if (stream.ssrc === ssrc) return stream
    const value = rtp.readExtension(packet, this.#extensionId)
    const name = value && String.fromCharCode(...value)
    if (name === undefined || !this.#names.includes(name)) return undefined
    // One source at a time, so that a sender cannot have streams created without a limit.
    const known = this.#byName.get(name)
    if (known && nowMs - known.arrivedMs < INACTIVE_MS) return undefined
    const stream = create()
    this.#byName.set(name, stream)
    return stream
  }

  /** All layers that have been sent. */
  get all(): readonly IncomingStream[] {
    return [...this.#byName.values()]
  }

  /** Returns the layers that are sent at present, by pixels, or else by bitrate, the smallest first. */
  active(nowMs: number): IncomingStream[] {
    return this.all
      .filter(({ arrivedMs }) => nowMs - arrivedMs < INACTIVE_MS)
      .toSorted((a, b) => a.pixels - b.pixels || a.rate.perSecond(nowMs) - b.rate.perSecond(nowMs))
  }
}
