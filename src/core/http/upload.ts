import type { IncomingMessage } from 'node:http'
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy'
import { AppError, badRequest } from '../errors/errors.ts'
import type { Upload } from './endpoint.ts'

/** What boundaries and headers of the one part may take beside the file. */
const FRAMING_BYTES = 64 * 1024
/** A sender of whom nothing has come for so long has stalled. */
const STALL_LIMIT_MS = 5_000
/** On average, once the grace is over. A body has 30 seconds in all, by the server's own limit. */
const MIN_BYTES_PER_SECOND = 16 * 1024
const RATE_GRACE_MS = 5_000
const PROGRESS_CHECK_MS = 500

/**
 * Reads the one file of a multipart body into memory, `maxBytes` at most. The types that senders declare are
 * not looked at: only the content tells.
 * @throws 408 the sender stalls or is too slow, 415 no multipart body, 413 too large, 400 anything else than exactly one file in the right field.
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

/** Finds senders who would keep a place among the uploads without using it. */
function watchPace({ socket }: IncomingMessage, upload: Upload) {
  const startedMs = performance.now()
  const startBytes = socket.bytesRead
  let progress = { bytes: startBytes, atMs: startedMs }
  let slow = false
  const { promise: tooSlow, reject } = Promise.withResolvers<never>()
  tooSlow.catch(() => {}) // nobody may be waiting any more
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
        new AppError(408, 'request_timeout', `${upload.field}: the file arrives too slowly: send it again`),
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

/** The content of the only part. Settles at the first thing that is wrong, also when the sender is gone. */
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
 * Reads on without keeping anything: an answer that comes while the sender still writes is often lost with the
 * connection. False when more than `maxBytes` came; then the connection is better closed.
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
