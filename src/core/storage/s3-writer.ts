import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import type { ObjectWriter, StoredObject } from './object-store.ts'
import { request, uploadLimitMs } from './s3-requests.ts'

const MIN_PART_BYTES = 8 * 1024 * 1024
/** S3 allows 10,000. The rest is for objects that become larger than expected. */
const EXPECTED_PARTS = 9_000
const MAX_PARTS = 10_000
/** Parts of one object that are uploaded at a time. */
const MAX_PARTS_IN_FLIGHT = 2
/** Servers may copy all parts into one file. */
const COMPLETE_LIMIT_MS = 300_000

export interface S3WriterOptions {
  readonly client: S3Client
  readonly target: { readonly Bucket: string; readonly Key: string }
  readonly expectedBytes: number
  /** Stores an object of at most one part. */
  readonly put: (bytes: Uint8Array) => Promise<StoredObject>
  readonly describe: (sizeBytes: number, etag: string | undefined) => StoredObject
}

/** Uploads an object in parts. Holds at most three parts in memory. */
export class S3Writer implements ObjectWriter {
  readonly #options: S3WriterOptions
  readonly #partBytes: number
  readonly #parts: CompletedPart[] = []
  readonly #inFlight = new Set<Promise<void>>()
  readonly #aborted = new AbortController()
  #buffered: Uint8Array[] = []
  #bufferedBytes = 0
  #sizeBytes = 0
  #partCount = 0
  #uploadId: string | undefined
  #lastStep: Promise<void> = Promise.resolve()
  #failure: Error | undefined
  #finished = false

  constructor(options: S3WriterOptions) {
    this.#options = options
    this.#partBytes = Math.max(MIN_PART_BYTES, Math.ceil(options.expectedBytes / EXPECTED_PARTS))
  }

  write(bytes: Uint8Array): Promise<void> {
    return this.#step(async () => {
      this.#sizeBytes += bytes.length
      for (let offset = 0; offset < bytes.length; ) {
        const piece = bytes.subarray(offset, offset + this.#partBytes - this.#bufferedBytes)
        offset += piece.length
        this.#buffered.push(piece)
        this.#bufferedBytes += piece.length
        if (this.#bufferedBytes === this.#partBytes) await this.#startPart()
      }
    })
  }

  async complete(): Promise<StoredObject> {
    let stored: StoredObject | undefined
    await this.#step(async () => {
      stored =
        this.#partCount === 0 ? await this.#options.put(this.#takeBuffered()) : await this.#completeParts()
      this.#finished = true
    })
    return stored as StoredObject
  }

  async abort(): Promise<void> {
    if (this.#finished) return
    this.#aborted.abort(new Error('The upload was aborted.'))
    await this.#lastStep
    await this.#discard()
  }

  /** Runs a step after those before it. A step that fails discards the upload. */
  #step(work: () => Promise<void>): Promise<void> {
    const step = this.#lastStep.then(async () => {
      if (this.#finished) throw this.#failure ?? new Error('The upload has ended. Nothing can be written.')
      try {
        if (this.#failure) throw this.#failure // a part that was on its way
        await work()
      } catch (cause) {
        this.#failure = cause as Error // `request` throws errors of the storage only
        await this.#discard()
        throw cause
      }
    })
    this.#lastStep = step.catch(() => {})
    return step
  }

  async #startPart(): Promise<void> {
    const number = ++this.#partCount
    if (number > MAX_PARTS)
      throw new Error(`An upload of unexpected size needs more than ${MAX_PARTS} parts.`)
    const body = this.#takeBuffered()
    this.#uploadId ??= await this.#begin()
    while (this.#inFlight.size >= MAX_PARTS_IN_FLIGHT) await Promise.race(this.#inFlight)
    if (this.#failure) throw this.#failure
    const upload = this.#uploadPart(number, body)
      .catch((cause) => {
        this.#failure ??= cause
      })
      .finally(() => this.#inFlight.delete(upload))
    this.#inFlight.add(upload)
  }

  async #begin(): Promise<string> {
    const { client, target } = this.#options
    const command = new CreateMultipartUploadCommand({ ...target, ChecksumAlgorithm: 'CRC32' })
    const { UploadId } = await request((options) => client.send(command, options))
    if (UploadId === undefined) throw new Error('S3 returned no UploadId.')
    return UploadId
  }

  async #uploadPart(PartNumber: number, Body: Uint8Array): Promise<void> {
    const { client, target } = this.#options
    const command = new UploadPartCommand({ ...target, UploadId: this.#uploadId, PartNumber, Body })
    const { ETag, ChecksumCRC32 } = await request((options) => client.send(command, options), {
      limitMs: uploadLimitMs(Body.length),
      signal: this.#aborted.signal,
    })
    this.#parts.push({ PartNumber, ETag, ...(ChecksumCRC32 !== undefined && { ChecksumCRC32 }) })
  }

  async #completeParts(): Promise<StoredObject> {
    if (this.#bufferedBytes > 0) await this.#startPart()
    await Promise.all(this.#inFlight)
    if (this.#failure) throw this.#failure
    const { client, target, describe } = this.#options
    const Parts = this.#parts.sort((a, b) => Number(a.PartNumber) - Number(b.PartNumber))
    const command = new CompleteMultipartUploadCommand({
      ...target,
      UploadId: this.#uploadId,
      MultipartUpload: { Parts },
    })
    const { ETag } = await request((options) => client.send(command, options), {
      limitMs: COMPLETE_LIMIT_MS,
      signal: this.#aborted.signal,
    })
    return describe(this.#sizeBytes, ETag)
  }

  #takeBuffered(): Uint8Array {
    const pieces = this.#buffered
    this.#buffered = []
    this.#bufferedBytes = 0
    return pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces)
  }

  /** Removes the uploaded parts. If S3 does not respond, a rule of the bucket has to remove them. */
  async #discard(): Promise<void> {
    if (this.#finished) return
    this.#finished = true
    this.#takeBuffered()
    this.#aborted.abort(new Error('The upload was aborted.'))
    await Promise.all(this.#inFlight)
    if (this.#uploadId === undefined) return
    const { client, target } = this.#options
    const command = new AbortMultipartUploadCommand({ ...target, UploadId: this.#uploadId })
    await request((options) => client.send(command, options)).catch(() => {})
  }
}
