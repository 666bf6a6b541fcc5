import type { IncomingMessage } from 'node:http'
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy'
import { AppError, badRequest } from '../errors/errors.ts'
import type { Upload } from './endpoint.ts'

/** The allowance for boundaries and part headers, in addition to the file. */
const FRAMING_BYTES = 64 * 1024
/** A sender that sends no bytes for this long has stalled. */
const STALL_LIMIT_MS = 5_000
/** The minimum average rate after the grace period. The server limits every body to 30 seconds. */
const MIN_BYTES_PER_SECOND = 16 * 1024
const RATE_GRACE_MS = 5_000
const PROGRESS_CHECK_MS = 500

/**
 * Reads the one file of a multipart body into memory, at most `maxBytes`. Ignores the media type that the sender
 * declares: only the content counts.
 * @throws 408 when the sender stalls or is too slow, 415 for a body that is not multipart, 413 when the file is too
 * large, 400 unless the body is exactly one file in the right field.
 */
export async function readUpload(request: IncomingMessage, upload: Upload): Promise<Buffer> {
  const parser = createParser(request, upload)
  const pace = watchPace(request, upload)
  try {
    if (Number(request.headers['content-length']) > upload.maxBytes + FRAMING_BYTES) throw tooLarge(upload)
    return await Promise.race([onlyFile(request, parser, upload), pace.tooSlow])
  } catch (cause) {
    request.unpipe(parser)
    if (!pace.isTooSlow() && (await discardRest(request, 2 * upload.maxBytes))) throw cause
    throw cause instanceof AppError
      ? new AppError(cause.status, cause.code, cause.message, { headers: { Connection: 'close' } })
      : cause
  } finally {
    pace.stop()
  }
}

/** Rejects slow senders, which would occupy one of the concurrent uploads. */
function watchPace({ socket }: IncomingMessage, upload: Upload) {
  const startedMs = performance.now()
  const startBytes = socket.bytesRead
  let progress = { bytes: startBytes, atMs: startedMs }
  let slow = false
  const { promise: tooSlow, reject } = Promise.withResolvers<never>()
  tooSlow.catch(() => {}) // the caller may have stopped waiting
  const timer = setInterval(() => {
    const nowMs = performance.now()
    const { bytesRead } = socket
    if (bytesRead > progress.bytes) progress = { bytes: bytesRead, atMs: nowMs }
    const lastedMs = nowMs - startedMs
    const isLate =
      lastedMs > RATE_GRACE_MS && (bytesRead - startBytes) / lastedMs < MIN_BYTES_PER_SECOND / 1_000
    slow ||= isLate || nowMs - progress.atMs > STALL_LIMIT_MS
    if (slow)
      reject(
        new AppError(
          408,
          'request_timeout',
          `${upload.field}: the file arrives too slowly. Send it again on a faster connection.`,
        ),
      )
  }, PROGRESS_CHECK_MS)
  return { tooSlow, isTooSlow: () => slow, stop: () => clearInterval(timer) }
}

const tooLarge = (upload: Upload) =>
  new AppError(
    413,
    'payload_too_large',
    `${upload.field}: must be at most ${upload.maxBytes / 1024 / 1024} MB`,
  )

function createParser(request: IncomingMessage, upload: Upload): BusboyInstance {
  const type = request.headers['content-type'] ?? ''
  if (!/^multipart\/form-data\s*(;|$)/i.test(type)) {
    throw new AppError(415, 'unsupported_media_type', 'Content-Type must be multipart/form-data')
  }
  try {
    return new Busboy({
      headers: request.headers as BusboyHeaders,
      limits: { fileSize: upload.maxBytes, fieldSize: 1_024, parts: 1, headerPairs: 20, headerSize: 8_192 },
    })
  } catch {
    throw badRequest('The Content-Type header must name the boundary of the multipart body.')
  }
}

/** Returns the content of the only part. Settles at the first error, also when the sender disconnects. */
function onlyFile(request: IncomingMessage, parser: BusboyInstance, upload: Upload): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let complete = false
    const malformed = () =>
      reject(badRequest('The multipart body is malformed or incomplete. Send it again.'))
    const rejectShape = () => reject(badRequest(`${upload.field}: must be one file, and the only field`))
    parser.on('file', (field, file) => {
      file.on('error', malformed)
      file.on('limit', () => reject(tooLarge(upload)))
      file.on('data', (chunk: Buffer) => chunks.push(chunk))
      file.on('end', () => {
        complete = true
      })
      if (field !== upload.field) rejectShape()
    })
    parser.on('field', rejectShape)
    parser.on('partsLimit', rejectShape)
    parser.on('error', malformed)
    parser.on('finish', () => (complete ? resolve(Buffer.concat(chunks)) : rejectShape()))
    request.on('close', () => {
      if (!request.complete) malformed()
    })
    request.pipe(parser)
  })
}

/**
 * Reads the rest of the body and discards it: a response that is sent while the client still writes is often lost
 * with the connection. Returns false when more than `maxBytes` arrived. The caller then closes the connection.
 */
function discardRest(request: IncomingMessage, maxBytes: number): Promise<boolean> {
  if (request.complete || request.destroyed) return Promise.resolve(true)
  return new Promise((resolve) => {
    let remaining = maxBytes
    request.on('data', (chunk: Buffer) => {
      remaining -= chunk.length
      if (remaining >= 0) return
      request.pause()
      resolve(false)
    })
    request.once('end', () => resolve(true))
    request.once('close', () => resolve(true))
    request.resume()
  })
}
