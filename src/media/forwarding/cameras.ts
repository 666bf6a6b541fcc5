import { CameraRecordings } from './camera-recordings.ts'
import { ForwardedCamera } from './forwarded-camera.ts'
import type {
  CameraKey,
  FromMediaProcess,
  RecorderAccess,
  RefusalCode,
  ToMediaProcess,
} from './media-messages.ts'
import { OfferError, readOffer } from './offer.ts'
import type { PeerEnvironment, PeerEvents } from './peer-link.ts'
import { Publisher } from './publisher.ts'
import { Viewer } from './viewer.ts'

type Request<T extends ToMediaProcess['type']> = Extract<ToMediaProcess, { type: T }>

/** Connects publishers and viewers to their cameras. */
export class Cameras {
  readonly #environment: PeerEnvironment
  readonly #post: (message: FromMediaProcess) => void
  readonly #cameras = new Map<CameraKey, ForwardedCamera>()
  readonly #recordings: CameraRecordings
  readonly #peers = new Map<number, { close(reason: string): void }>()

  constructor(environment: PeerEnvironment, post: (message: FromMediaProcess) => void) {
    this.#environment = environment
    this.#post = post
    this.#recordings = new CameraRecordings(environment, () => this.#cameras.values())
  }

  publish({ id, camera: key, sdp }: Request<'publish'>): void {
    this.#accept(id, () => {
      const offer = readOffer(sdp)
      const camera = this.#cameras.get(key) ?? this.#create(key)
      const publisher: Publisher = new Publisher(id, { offer, sdp }, this.#environment, {
        ...this.#eventsOf(id, () => {
          camera.remove(publisher)
          this.#forget(camera)
        }),
        packet: (packet) => camera.forward(publisher, packet),
      })
      this.#peers.set(id, publisher)
      this.#cameras.set(key, camera)
      camera.add(publisher)
    })
  }

  view({ id, camera: key, sdp, isOperator }: Request<'view'>): void {
    const camera = this.#cameras.get(key)
    const source = camera?.publisher?.video
    if (!camera || !source) return this.#refuse(id, 'camera_offline', 'The camera is not sending.')
    this.#accept(id, () => {
      const offer = readOffer(sdp)
      const viewer: Viewer = new Viewer(id, { offer, sdp, source, isOperator }, this.#environment, {
        ...this.#eventsOf(id, () => {
          camera.removeViewer(viewer)
          this.#forget(camera)
        }),
        keyframeNeeded: (layer) => camera.publisher?.requestKeyframe(layer),
        spoke: (packet, header) => camera.publisher?.sendAudio(packet, header),
      })
      this.#peers.set(id, viewer)
      camera.addViewer(viewer)
    })
  }

  #create(key: CameraKey): ForwardedCamera {
    return new ForwardedCamera(key, this.#environment.nowMs, () => this.postFigures())
  }

  record({ camera: key, sessionId, stored }: Request<'record'>): void {
    const camera = this.#cameras.get(key) ?? this.#create(key)
    this.#cameras.set(key, camera)
    this.#recordings.begin(camera, { sessionId, stored })
  }

  endRecord(key: CameraKey): void {
    const camera = this.#cameras.get(key)
    camera?.setRecorder(undefined)
    if (camera) this.#forget(camera)
  }

  setRecorders(access: RecorderAccess): void {
    this.#recordings.setRecorders(access)
  }

  /** Ends all recordings. Settles when what was recorded is on its way. */
  async end(): Promise<void> {
    for (const camera of this.#cameras.values()) camera.setRecorder(undefined)
    await this.#recordings.end()
  }

  close(id: number): void {
    this.#peers.get(id)?.close('closed')
  }

  #eventsOf(id: number, onClosed: () => void): PeerEvents {
    return {
      answered: (sdp) => this.#post({ type: 'answer', id, sdp }),
      closed: (reason) => {
        if (!this.#peers.delete(id)) return // refused: it never became a peer
        onClosed()
        this.#post({ type: 'closed', id, reason })
      },
    }
  }

  /** Runs the work for an offer. The library and the parser throw for offers that they cannot read. */
  #accept(id: number, work: () => void): void {
    try {
      work()
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause)
      this.#refuse(
        id,
        'offer_rejected',
        cause instanceof OfferError ? message : `The offer is not valid: ${message}`,
      )
    }
  }

  #refuse(id: number, code: RefusalCode, message: string): void {
    this.#post({ type: 'refused', id, code, message })
  }

  #forget(camera: ForwardedCamera): void {
    if (camera.isUnused && this.#cameras.get(camera.key) === camera) this.#cameras.delete(camera.key)
  }

  requestMissing(): void {
    for (const camera of this.#cameras.values()) camera.requestMissing()
  }

  report(): void {
    for (const camera of [...this.#cameras.values()]) camera.report()
  }

  acknowledge(): void {
    for (const camera of this.#cameras.values()) camera.acknowledge()
  }

  postFigures(): void {
    const cameras = [...this.#cameras.values()].flatMap((camera) => camera.figures() ?? [])
    this.#post({ type: 'figures', cameras, recording: this.#recordings.counts })
  }
}
