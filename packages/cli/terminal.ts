import type { Env } from './credentials/config-directory.ts'
import type { Stream } from './output.ts'

/** What the program finds around itself. */
export interface Terminal {
  readonly env: Env
  readonly stdin: NodeJS.ReadStream
  readonly stdout: Stream
  readonly stderr: Stream
  /** Aborted by Ctrl-C, by SIGTERM, and when nobody reads the output any more. */
  readonly signal: AbortSignal
}
