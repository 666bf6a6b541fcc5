/** The hub answered a command with a refusal. */
export class HubError extends Error {
  override readonly name = 'HubError'
  /** HTTP-like: 403 not allowed, 404 not found, 409 conflict, 429 too many, 503 try later … */
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** A command was not sent, because the client has no connection. */
export class NotConnectedError extends Error {
  override readonly name = 'NotConnectedError'
}

/** A command was sent but never acknowledged: it may or may not have taken effect. */
export class UnacknowledgedError extends Error {
  override readonly name = 'UnacknowledgedError'
}

/** The client was closed, or gave up because its credential was refused. */
export class HubClosedError extends Error {
  override readonly name = 'HubClosedError'
}

/** The gateway refused an episode permanently. Do not send it again. */
export class EpisodeRefusedError extends Error {
  override readonly name = 'EpisodeRefusedError'
}

/** Returns whether a refusal is final: the hub would refuse the same command again. */
export function isFinalRefusal(cause: unknown): boolean {
  if (!(cause instanceof HubError)) return cause instanceof HubClosedError
  return cause.status >= 400 && cause.status < 500 && cause.status !== 408 && cause.status !== 429
}

/** The REST API refused a request, or could not be reached. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** The HTTP status; 0 without a response. */
  readonly status: number
  /**
   * The machine-readable code of the error, from the header `Wheelhouse-Error`; `ErrorCode` of
   * `@wheelhouse/protocol` lists the codes. Undefined without a response of the platform, such as one of a proxy.
   */
  readonly code: string | undefined
  /** Seconds to wait before the next attempt, if the platform names a time. */
  readonly retryAfterS?: number

  constructor(
    status: number,
    message: string,
    options: ErrorOptions & { code?: string | undefined; retryAfterS?: number } = {},
  ) {
    super(message, options)
    this.status = status
    this.code = options.code
    if (options.retryAfterS !== undefined) this.retryAfterS = options.retryAfterS
  }
}
