import { setTimeout as delay } from 'node:timers/promises'
import { TokenBucket } from '../../../core/concurrency/token-bucket.ts'
import {
  FLAG_BINARY,
  type SampleSender,
  type SampleWriter,
  sampleKinds,
} from '../../../modules/recordings/transport/index.ts'
import { PictureParts } from './picture-parts.ts'

/** Pictures that are recorded in a second: 15. */
const PICTURES = { burst: 2, refillMs: 2_000 / 15 }
const [FIRST_RETRY_MS, MAX_RETRY_MS] = [1_000, 30_000]

/** A response whose body arrives as long as the connection exists. */
interface PictureResponse {
  readonly status: number
  readonly contentType: string
  readonly body: AsyncIterable<Buffer>
}

/** Requests an address that a user chose, under the rules for such addresses. */
export type OpenPictures = (url: string, stop: AbortSignal) => Promise<PictureResponse>

/** The camera at the `stream_url` of a robot. */
export interface PictureTarget {
  readonly robotId: string
  readonly sessionId: string
  readonly url: string
}

interface PictureDeps {
  readonly open: OpenPictures
  readonly sender: Pick<SampleSender, 'open'>
  readonly nowMs: () => number
  /** The source of the stream, `camera/<name>`. */
  readonly source: string
}

/** Records the pictures of one MJPEG camera. It connects again after every failure, until it is closed. */
export class PictureRecorder {
  readonly target: PictureTarget
  readonly #deps: PictureDeps
  readonly #stop = new AbortController()
  readonly #rate: TokenBucket
  #samples: SampleWriter | undefined

  constructor(target: PictureTarget, deps: PictureDeps) {
    this.target = target
    this.#deps = deps
    this.#rate = new TokenBucket(PICTURES, deps.nowMs())
  }

  /** Records until it is closed. Never rejects. */
  async run(): Promise<void> {
    const { signal } = this.#stop
    let failures = 0
    while (!signal.aborted) {
      // A camera that cannot be reached, or a page that is no stream: it may be different later.
      const pictures = await this.#read().catch(() => 0)
      failures = pictures > 0 ? 0 : failures + 1
      const waitMs = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.max(0, failures - 1))
      await delay(waitMs * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => {})
    }
  }

  /** Reads one response to its end. Returns the number of its pictures. */
  async #read(): Promise<number> {
    const { signal } = this.#stop
    const { status, contentType, body } = await this.#deps.open(this.target.url, signal)
    const parts = status === 200 ? PictureParts.of(contentType) : undefined
    if (!parts) return 0
    let count = 0
    for await (const chunk of body)
      for (const picture of parts.add(chunk)) {
        count++
        if (!signal.aborted) this.#write(picture)
      }
    return count
  }

  #write(payload: Buffer): void {
    const { sender, nowMs, source } = this.#deps
    const atMs = nowMs()
    if (this.#rate.take(atMs) > 0) return
    const { sessionId } = this.target
    this.#samples ??= sender.open({ sessionId, source, codec: 'JPEG', stored: true })
    this.#samples.write(
      { kind: sampleKinds.image, flags: FLAG_BINARY, detail: Number.NaN, note: '', payload },
      atMs,
    )
  }

  close(): void {
    this.#stop.abort()
    this.#samples?.close()
    this.#samples = undefined
  }
}
