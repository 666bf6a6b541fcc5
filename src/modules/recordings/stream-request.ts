/** The request of a source to open a stream. Times are Unix milliseconds. */
export interface OpenStreamRequest {
  readonly streamId: string
  readonly sessionId: string
  /** `gateway`, or `camera/<name>`. */
  readonly source: string
  readonly nodeId: string
  /** The first of the streams that this one continues: its source sends again what they had not stored. Its own id if it continues none. */
  readonly originId: string
  readonly atMs: number
}

/** Returns whether a stream continues an earlier one. */
export const isContinued = ({ streamId, originId }: OpenStreamRequest): boolean => streamId !== originId
