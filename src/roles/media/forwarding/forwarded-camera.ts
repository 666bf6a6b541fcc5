import type { CameraRecorder } from './camera-recorder.ts'
import type { VideoCodec } from './keyframes.ts'
import { type CameraFigures, type CameraKey, REPLACED } from './media-messages.ts'
import type { MediaPacket, Publisher } from './publisher.ts'
import type { Viewer } from './viewer.ts'

/** A viewer's estimate is a limit only near the bitrate in use: without more data, an estimate cannot be higher. */
const LIMITING_RATIO = 1.2

/** One camera: who publishes it, and who views it. */
export class ForwardedCamera {
  readonly key: CameraKey
  readonly #viewers = new Set<Viewer>()
  readonly #nowMs: () => number
  readonly #onPublisher: () => void
  #publisher: Publisher | undefined
  #recorder: CameraRecorder | undefined
  /** A publisher that has not sent yet. The one before continues until then. */
  #next: Publisher | undefined

  /** `onPublisher` is called when another peer publishes than before. */
  constructor(key: CameraKey, nowMs: () => number, onPublisher: () => void) {
    this.key = key
    this.#nowMs = nowMs
    this.#onPublisher = onPublisher
  }

  get publisher(): Publisher | undefined {
    return this.#publisher
  }

  get isUnused(): boolean {
    return !this.#publisher && !this.#next && !this.#recorder && this.#viewers.size === 0
  }

  /** Adds a publisher. It replaces the one before with its first packet. */
  add(publisher: Publisher): void {
    const before = this.#next
    this.#next = publisher // first, because a camera without a publisher is forgotten
    before?.close(REPLACED)
  }

  /** Begins to record, or ends it with undefined. A recorder counts as a viewer. */
  setRecorder(recorder: CameraRecorder | undefined): void {
    this.#recorder?.close()
    this.#recorder = recorder
    recorder?.chooseLayer(this.#publisher?.layers ?? [])
    if (!recorder) return
    if (this.#viewers.size === 0) this.#reportToPublisher()
    this.#publisher?.requestKeyframe()
  }

  /** Adds a viewer. For the first one, the publisher may send more at once. */
  addViewer(viewer: Viewer): void {
    this.#viewers.add(viewer)
    viewer.chooseLayer(this.#publisher?.layers ?? [])
    if (this.#viewers.size === 1 && !this.#recorder) this.#reportToPublisher()
  }

  removeViewer(viewer: Viewer): void {
    this.#viewers.delete(viewer)
  }

  /** Forwards a packet to all viewers, and then to the recorder. */
  forward(publisher: Publisher, packet: MediaPacket): void {
    if (publisher === this.#next) this.#replace(publisher)
    if (publisher !== this.#publisher) return
    const nowMs = this.#nowMs()
    for (const viewer of this.#viewers) viewer.forward(packet, nowMs)
    this.#recorder?.receive(packet, publisher.video.codec as VideoCodec, nowMs)
  }

  #replace(publisher: Publisher): void {
    const before = this.#publisher
    this.#publisher = publisher
    this.#next = undefined
    before?.close(REPLACED)
    for (const viewer of [...this.#viewers]) {
      viewer.chooseLayer(publisher.layers)
      if (!viewer.plays(publisher.video)) viewer.close('the codec changed')
    }
    this.#recorder?.chooseLayer(publisher.layers)
    if (this.#isWatched) publisher.requestKeyframe()
    this.#onPublisher()
  }

  /** Forgets a publisher that has closed. Its viewers wait for the next one. */
  remove(publisher: Publisher): void {
    if (this.#publisher === publisher) this.#publisher = undefined
    if (this.#next === publisher) this.#next = undefined
  }

  requestMissing(): void {
    this.#publisher?.requestMissing()
  }

  /** Sends all regular reports, and ends peers that are gone. */
  report(): void {
    const layers = this.#publisher?.layers ?? []
    const problem = this.#publisher?.problem
    for (const viewer of [...this.#viewers]) {
      if (problem !== undefined) viewer.close('the camera cannot be decoded') // its next offer gets the reason
      viewer.chooseLayer(layers)
      viewer.report()
    }
    this.#recorder?.chooseLayer(layers)
    this.#recorder?.tick()
    this.#reportToPublisher()
    this.#publisher?.checkSilence()
    this.#next?.checkSilence()
  }

  /** Sends a report between two regular ones to the publisher. */
  acknowledge(): void {
    this.#publisher?.acknowledge()
  }

  get #isWatched(): boolean {
    return this.#viewers.size > 0 || this.#recorder !== undefined
  }

  #reportToPublisher(): void {
    const publisher = this.#publisher
    if (!publisher) return
    publisher.report({ isWatched: this.#isWatched, viewerLimit: this.#viewerLimit(publisher) })
  }

  /**
   * Returns the bitrate that the paths of the operators allow, or of all viewers while no operator watches. With layers, each viewer
   * receives one that its path allows, so that no path limits the camera. The recorder has no limit.
   */
  #viewerLimit(publisher: Publisher): number | undefined {
    if (publisher.layers.length > 1) return undefined
    const viewers = [...this.#viewers]
    const operators = viewers.filter(({ isOperator }) => isOperator)
    const limits = (operators.length > 0 ? operators : viewers).flatMap(
      ({ bitsPerSecondLimit }) => bitsPerSecondLimit ?? [],
    )
    const limit = Math.min(...limits)
    const current = publisher.videoStream?.rate.perSecond(this.#nowMs()) ?? 0
    return limit < LIMITING_RATIO * current ? limit : undefined
  }

  figures(): CameraFigures | undefined {
    const publisher = this.#publisher
    const stream = publisher?.videoStream
    if (!publisher || !stream) return undefined
    const nowMs = this.#nowMs()
    const { captureMs } = stream
    return {
      camera: this.key,
      id: publisher.id,
      hasAudio: publisher.hasAudio,
      codec: publisher.video.codec,
      bitsPerSecond: Math.round(publisher.bitsPerSecond),
      framesPerSecond: stream.frameRate.perSecond(nowMs),
      latencyMs: captureMs === undefined ? null : Math.round(stream.arrivedMs - captureMs),
    }
  }
}
