import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Context } from 'koa'
import { acceptedEncoding } from './compression.ts'
import { weakEtag } from './conditional-get.ts'

/** Content is compressed once, so that the time matters less than the size. */
const BROTLI_QUALITY = 9

const compressors = {
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes),
}

/** Content that does not change while the process runs. */
export interface StaticContent {
  /** Sends it in the best encoding that the client accepts, or 304 when the client has it. */
  send(http: Context): Promise<void>
}

/**
 * Creates content that is loaded at its first request and stays in memory, with a compressed copy of each encoding that
 * a client has asked for.
 */
export function createStaticContent(options: {
  type: string
  load: () => Promise<Buffer | string> | Buffer | string
  /** False for content that is compressed already. Default: true. */
  compress?: boolean
}): StaticContent {
  const { type, compress = true } = options
  const load = once(async () => {
    const bytes = Buffer.from(await options.load())
    return { bytes, etag: weakEtag(bytes) }
  })
  const copies = {
    br: once(async () => await compressors.br((await load()).bytes)),
    gzip: once(async () => await compressors.gzip((await load()).bytes)),
  }
  return {
    async send(http) {
      const { bytes, etag } = await load()
      http.status = 200
      http.set('Cache-Control', 'no-cache') // caches must revalidate, and get 304 while it is unchanged
      http.etag = etag
      if (http.fresh) {
        http.status = 304
        return
      }
      if (compress) http.vary('Accept-Encoding')
      const encoding = compress ? acceptedEncoding(http) : undefined
      if (encoding) http.set('Content-Encoding', encoding)
      http.type = type
      http.body = encoding ? await copies[encoding]() : bytes
    },
  }
}

/** Runs an asynchronous function once and keeps its result. A failure is not kept. */
function once<T>(run: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined
  return () => {
    result ??= run().catch((cause) => {
      result = undefined
      throw cause
    })
    return result
  }
}
