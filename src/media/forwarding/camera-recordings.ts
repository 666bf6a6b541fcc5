import { createRecordSender, type RecordSender } from '../../core/recording/record-sender.ts'
import { CameraRecorder } from './camera-recorder.ts'
import type { ForwardedCamera } from './forwarded-camera.ts'
import type { RecorderAccess, RecordingCounts, RecordingTarget } from './media-messages.ts'
import type { PeerEnvironment } from './peer-link.ts'

const MB = 1024 * 1024
/**
 * Frames that are kept until they are acknowledged. A segment of a camera has at most ten seconds or 4 MiB, and is acknowledged
 * when it is durable, so that a stream needs more than one.
 */
const LIMITS = { streamBytes: 8 * MB, totalBytes: 128 * MB }

/** The recordings of all cameras of the process. */
export class CameraRecordings {
  readonly #environment: PeerEnvironment
  readonly #sender: RecordSender
  readonly #schedule: () => void
  #access: RecorderAccess = { recorders: [], authorization: '' }
  #isScheduled = false

  constructor(environment: PeerEnvironment, cameras: () => Iterable<ForwardedCamera>) {
    this.#environment = environment
    this.#sender = createRecordSender({
      ...environment,
      recorders: () => this.#access.recorders,
      authorization: () => this.#access.authorization,
      limits: LIMITS,
    })
    const work = environment.guard.immediate('media:record', () => {
      this.#isScheduled = false
      for (const { recorder } of cameras()) recorder?.work()
    })
    this.#schedule = () => {
      if (this.#isScheduled) return
      this.#isScheduled = true
      work()
    }
  }

  get counts(): RecordingCounts {
    return { ...this.#sender.counts }
  }

  setRecorders({ recorders, authorization }: RecorderAccess): void {
    this.#access = { recorders, authorization }
  }

  /** Begins to record a camera, unless it is recorded in the same way already. */
  begin(camera: ForwardedCamera, target: RecordingTarget): void {
    const known = camera.recorder?.target
    if (known?.sessionId === target.sessionId && known.stored === target.stored) return
    const name = camera.key.slice(camera.key.indexOf('/') + 1)
    const recorder = new CameraRecorder(name, target, {
      sender: this.#sender,
      nowMs: this.#environment.nowMs,
      schedule: this.#schedule,
      requestKeyframe: (stream) => camera.publisher?.requestKeyframe(stream),
    })
    camera.setRecorder(recorder)
  }

  /** Settles when what was recorded is on its way. */
  async end(): Promise<void> {
    await this.#sender.end()
  }
}
