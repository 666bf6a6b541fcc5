import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'
import { s3Error } from './s3-errors.ts'

export interface S3Settings {
  readonly bucket: string
  /** The address of a server other than Amazon's. */
  readonly endpoint?: string | undefined
  /** The address at which clients reach the server, if it differs; null if they do not reach it. */
  readonly publicEndpoint?: string | null | undefined
  readonly region: string
  /** Without keys, the client takes those of the machine. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined
  /** The beginning of all keys in the bucket, empty or with a slash at its end. */
  readonly prefix: string
  /** Whether the bucket is part of the path, not of the host name. */
  readonly pathStyle: boolean
}

/** The options of a request that the client for S3 takes. */
export interface RequestOptions {
  readonly abortSignal: AbortSignal
}

/** How long a connection to S3 may take to open. */
const CONNECT_LIMIT_MS = 3_000
/** The second attempt is for connections that the server has closed. Callers repeat whole operations later. */
const MAX_ATTEMPTS = 2
/** How long S3 may take to answer a request without a body. */
const REQUEST_LIMIT_MS = 10_000
/** The slowest connection that an upload may use: 2 Mbit/s. */
const MIN_UPLOAD_BYTES_PER_MS = 250

/** Returns the time limit of a request that sends bytes, in milliseconds. */
export const uploadLimitMs = (bytes: number): number => REQUEST_LIMIT_MS + bytes / MIN_UPLOAD_BYTES_PER_MS

/** Creates a client for requests. */
export const createS3Client = (settings: S3Settings): S3Client =>
  createClient(settings, settings.endpoint, true)

/** Creates a client that signs addresses for clients; undefined if they do not reach the server. */
export function createSigner(settings: S3Settings): S3Client | undefined {
  const { endpoint, publicEndpoint = endpoint } = settings
  // An address must not contain the checksum of a body.
  return publicEndpoint === null ? undefined : createClient(settings, publicEndpoint, false)
}

function createClient(settings: S3Settings, endpoint: string | undefined, checksums: boolean): S3Client {
  const { region, credentials, pathStyle } = settings
  const config: S3ClientConfig = {
    region,
    forcePathStyle: pathStyle,
    maxAttempts: MAX_ATTEMPTS,
    // Limits on silence would also end uploads over slow connections, and reads of slow readers: each request has a time limit.
    requestHandler: { connectionTimeout: CONNECT_LIMIT_MS, requestTimeout: 0, socketTimeout: 0 },
    // Every upload has a checksum. Parts of objects have none, and TLS protects them on the way.
    requestChecksumCalculation: checksums ? 'WHEN_SUPPORTED' : 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // With it, the client opens a new connection for every upload.
    expectContinueHeader: false,
  }
  if (endpoint !== undefined) config.endpoint = endpoint
  if (credentials) config.credentials = credentials
  return new S3Client(config)
}

/**
 * Runs a request with a time limit, up to the headers of the response.
 * @throws StorageUnavailableError, StorageFullError
 */
export async function request<T>(
  send: (options: RequestOptions) => Promise<T>,
  { limitMs = REQUEST_LIMIT_MS, signal }: { limitMs?: number; signal?: AbortSignal } = {},
): Promise<T> {
  const controller = new AbortController()
  const expire = () => controller.abort(new Error(`S3 did not respond within ${limitMs} ms.`))
  const timer = setTimeout(expire, limitMs)
  const abort = () => controller.abort(signal?.reason)
  if (signal?.aborted) abort()
  signal?.addEventListener('abort', abort)
  try {
    return await send({ abortSignal: controller.signal })
  } catch (cause) {
    throw s3Error(cause)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}
