import type { CameraRecorder } from './camera-recorder.ts'
import { ForwardedCamera } from './forwarded-camera.ts'
import type { IncomingStream } from './incoming-stream.ts'
import type { CameraKey, FromMediaProcess, RefusalCode, ToMediaProcess } from './media-messages.ts'
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
  readonly #peers = new Map<number, { close(reason: string): void }>()

  constructor(environment: PeerEnvironment, post: (message: FromMediaProcess) => void) {
    this.#environment = environment
    this.#post = post
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
    if (!camera?.publisher || !source) return this.#refuse(id, 'camera_offline', 'The camera is not sending.')
    const { problem } = camera.publisher
    if (problem !== undefined) return this.#refuse(id, 'camera_undecodable', problem)
    this.#accept(id, () => {
      const offer = readOffer(sdp)
      const { takesSound = false } = camera.publisher ?? {}
      const request = { offer, sdp, source, isOperator, takesSound }
      const viewer: Viewer = new Viewer(id, request, this.#environment, {
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

  /** Begins to record a camera, also one that does not send yet; ends it without a recorder. */
  setRecorder(key: CameraKey, recorder: CameraRecorder | undefined): void {
    const camera = this.#cameras.get(key) ?? (recorder && this.#create(key))
    if (!camera) return
    this.#cameras.set(key, camera)
    camera.setRecorder(recorder)
    this.#forget(camera)
  }

  /** Requests a keyframe of a camera's stream. */
  requestKeyframe(key: CameraKey, stream: IncomingStream | undefined): void {
    this.#cameras.get(key)?.publisher?.requestKeyframe(stream)
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
    this.#post({ type: 'figures', cameras })
  }
}
