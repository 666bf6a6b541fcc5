import type { Env } from './credentials.ts'
import type { Stream } from './output.ts'

/** Environment and streams of the program. */
export interface Terminal {
  readonly env: Env
  readonly stdin: NodeJS.ReadStream
  readonly stdout: Stream
  readonly stderr: Stream
  /** Aborted by Ctrl-C, by SIGTERM, and when the reader of the output closes. */
  readonly signal: AbortSignal
}
