import { waitUntil } from '../../../core/concurrency/concurrency.ts'
import {
  createSampleSender,
  createUnsentGaps,
  type SampleSender,
  type UnsentGap,
  type UnsentGaps,
} from '../../../modules/recordings/transport/index.ts'
import { CameraRecorder } from './camera-recorder.ts'
import type { Cameras } from './cameras.ts'
import type { CameraKey, RecorderAccess, RecordingCounts, RecordingMessage } from './media-messages.ts'
import type { PeerEnvironment } from './peer-link.ts'

const MB = 1024 * 1024
/**
 * Frames that are kept until they are acknowledged. A segment of a camera has at most ten seconds or 4 MiB, and is acknowledged
 * when it is durable, so that a stream needs more than one.
 */
const LIMITS = { streamBytes: 8 * MB, totalBytes: 128 * MB }

/** Time for the recorders to store the rest at the end. */
const END_MS = 2_000
/** Time for the reports of streams that have reached no recorder. */
const GAPS_MS = 500

/** The recordings of all cameras of the process. */
export class CameraRecordings {
  readonly #environment: PeerEnvironment
  readonly #cameras: Cameras
  readonly #sender: SampleSender
  readonly #unsentGaps: UnsentGaps
  readonly #recorders = new Map<CameraKey, CameraRecorder>()
  readonly #scheduleWork: () => void
  #access: RecorderAccess = { recorders: [], authorization: '' }
  #isScheduled = false

  /** @param postUnsent sends the gap of a stream to the media role. It settles when the message is on its way */
  constructor(
    environment: PeerEnvironment,
    cameras: Cameras,
    postUnsent: (sessionId: string, gap: UnsentGap) => Promise<void>,
  ) {
    this.#environment = environment
    this.#unsentGaps = createUnsentGaps({ log: environment.log, store: postUnsent })
    this.#cameras = cameras
    this.#sender = createSampleSender({
      ...environment,
      recorders: () => this.#access.recorders,
      authorization: () => this.#access.authorization,
      limits: LIMITS,
      onUnsent: this.#unsentGaps.report,
    })
    this.#scheduleWork = environment.guard.immediate('media:record', () => this.#work())
  }

  get counts(): RecordingCounts {
    return { ...this.#sender.counts }
  }

  async handle(message: RecordingMessage): Promise<void> {
    if (message.type === 'record') this.#begin(message)
    else if (message.type === 'end_record') this.#end(message.camera)
    else if (message.type === 'recorders') this.#access = message
    else {
      for (const camera of [...this.#recorders.keys()]) this.#end(camera)
      await waitUntil(() => this.#sender.isIdle, END_MS)
      this.#sender.giveUp()
      await this.#unsentGaps.settled(GAPS_MS)
      this.#sender.stop()
      process.exit()
    }
  }

  #begin({ camera, sessionId, stored }: Extract<RecordingMessage, { type: 'record' }>): void {
    const name = camera.slice(camera.indexOf('/') + 1)
    const recorder = new CameraRecorder(
      name,
      { sessionId, stored },
      {
        sender: this.#sender,
        nowMs: this.#environment.nowMs,
        schedule: () => this.#schedule(),
        requestKeyframe: (stream) => this.#cameras.requestKeyframe(camera, stream),
      },
    )
    this.#recorders.set(camera, recorder)
    this.#cameras.setRecorder(camera, recorder)
  }

  #end(camera: CameraKey): void {
    this.#recorders.delete(camera)
    this.#cameras.setRecorder(camera, undefined)
  }

  /** Lets the recorders work at the end of this turn of the event loop, when all viewers are served. */
  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#scheduleWork()
  }

  #work(): void {
    this.#isScheduled = false
    for (const recorder of this.#recorders.values()) recorder.work()
  }
}
