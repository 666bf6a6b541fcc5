import { rtp } from '@wheelhouse/protocol'
import {
  FLAG_BINARY,
  FLAG_KEYFRAME,
  type SampleSender,
  type SampleWriter,
  sampleKinds,
} from '../../../modules/recordings/transport/index.ts'
import { type AccessUnit, AccessUnits } from './access-units.ts'
import { FrameLoss } from './frame-loss.ts'
import type { IncomingStream } from './incoming-stream.ts'
import type { VideoCodec } from './keyframes.ts'
import type { RecordingTarget } from './media-messages.ts'
import type { MediaPacket } from './publisher.ts'

/**
 * A keyframe is requested when the newest one is this old: a recording continues at a keyframe when a reader seeks, and segments,
 * which have at most ten seconds, begin with one. A keyframe is ten times as large as another frame.
 */
const KEYFRAME_INTERVAL_MS = 5_000
/** Packets that wait for the end of a turn of the event loop. Beyond it they are left out, as if they were lost. */
const MAX_WAITING = 4_096

interface RecorderEnvironment {
  readonly sender: Pick<SampleSender, 'open'>
  readonly nowMs: () => number
  /** Asks for a call of `work` after all viewers are served. */
  readonly schedule: () => void
  /** Requests a keyframe of a stream; of the newest one if it is undefined. */
  readonly requestKeyframe: (stream: IncomingStream | undefined) => void
}

/** Records one camera: it sends each complete frame to a recorder. It takes part like a viewer on a path without a limit. */
export class CameraRecorder {
  readonly #target: RecordingTarget
  readonly #name: string
  readonly #environment: RecorderEnvironment
  #waiting: { packet: MediaPacket; codec: VideoCodec; arrivedMs: number }[] = []
  #source: IncomingStream | undefined
  #wanted: IncomingStream | undefined
  #units: AccessUnits | undefined
  #codec: VideoCodec | undefined
  #samples: SampleWriter | undefined
  readonly #loss = new FrameLoss((gap) => this.#samples?.gap(gap))
  #keyframeMs: number
  /** The latest time of a frame that was written. */
  #writtenMs = 0

  constructor(name: string, target: RecordingTarget, environment: RecorderEnvironment) {
    this.#name = name
    this.#target = target
    this.#environment = environment
    this.#keyframeMs = environment.nowMs()
  }

  /** Chooses the largest layer of the camera; undefined for a camera without layers. */
  chooseLayer(layers: readonly IncomingStream[]): void {
    this.#wanted = layers.at(-1)
  }

  /** Takes a packet, with which it works later. */
  receive(packet: MediaPacket, codec: VideoCodec, arrivedMs: number): void {
    if (packet.kind !== 'video' || !this.#isOfInterest(packet) || this.#waiting.length >= MAX_WAITING) return
    this.#waiting.push({ packet, codec, arrivedMs })
    if (this.#waiting.length === 1) this.#environment.schedule()
  }

  /** Returns whether a packet belongs to the current or the next stream. */
  #isOfInterest({ stream }: MediaPacket): boolean {
    return stream === this.#source || stream === this.#wanted || !this.#wanted
  }

  /** Works with the packets that it has taken. */
  work(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const { packet, codec, arrivedMs } of waiting) {
      if (!this.#isOfInterest(packet)) continue
      if (packet.stream !== this.#source && !this.#begin(packet, codec)) continue
      const { sequenceNumber, timestamp, marker } = packet.header
      const payload = packet.plain.subarray(rtp.RTP_HEADER_BYTES)
      this.#units?.receive({ header: { sequenceNumber, timestamp, marker }, payload, arrivedMs })
    }
  }

  /** Continues with another stream: of a new publisher, or of another layer. It begins with a keyframe. */
  #begin({ stream, isStart }: MediaPacket, codec: VideoCodec): boolean {
    if (!isStart) {
      this.#environment.requestKeyframe(stream)
      return false
    }
    if (codec !== this.#codec) this.#endSamples()
    this.#codec = codec
    this.#source = stream
    this.#units = new AccessUnits(codec, {
      unit: (unit) => this.#write(unit, codec),
      lost: () => {
        this.#loss.lost()
        this.#environment.requestKeyframe(stream)
      },
      captureMs: (timestamp) => stream.captureMsOf(timestamp),
    })
    return true
  }

  #write({ data, isKeyframe, captureMs, arrivedMs }: AccessUnit, codec: VideoCodec): void {
    if (isKeyframe) this.#keyframeMs = arrivedMs
    this.#samples ??= this.#environment.sender.open({
      ...this.#target,
      source: `camera/${this.#name}`,
      codec,
      onKeyframeRequest: () => this.#environment.requestKeyframe(this.#source),
    })
    // The estimate of a sender's clock changes, and where it is unknown, readers take the time of arrival. Times never run backwards.
    const stampMs = captureMs === undefined ? undefined : Math.max(captureMs, this.#writtenMs)
    this.#writtenMs = Math.max(this.#writtenMs, stampMs ?? arrivedMs)
    const sample = {
      kind: sampleKinds.video,
      flags: FLAG_BINARY | (isKeyframe ? FLAG_KEYFRAME : 0),
      detail: stampMs ?? Number.NaN,
      note: '',
      payload: data,
    }
    this.#samples.write(sample, arrivedMs)
    this.#loss.delivered(arrivedMs)
  }

  /** Gives up lost packets, and requests a keyframe when it is time. Call it about twice a second. */
  tick(): void {
    this.work()
    const nowMs = this.#environment.nowMs()
    this.#units?.expire(nowMs)
    this.#loss.tick(nowMs)
    if (nowMs - this.#keyframeMs >= KEYFRAME_INTERVAL_MS) this.#environment.requestKeyframe(this.#source)
  }

  /** Ends the recording after the frames that are complete. */
  close(): void {
    this.work()
    this.#endSamples()
    this.#units = undefined
    this.#source = undefined
  }

  #endSamples(): void {
    this.#loss.close(this.#environment.nowMs())
    this.#samples?.close()
    this.#samples = undefined
  }
}
