export type Side = 'operator' | 'robot' | 'observer'

/** One end of a pair as its relay knows it. */
export interface End {
  readonly pair: number
  readonly side: Side
  /** Path of a WebSocket, and its credential. */
  readonly path?: string
  readonly token?: string
}

/** Callbacks of a wire. */
export interface WireEvents {
  /** Runs when the relay has admitted this end; messages of the other end arrive from now on. */
  ready(): void
  refused(why: string): void
  /** Receives a message, of the other end or of the relay; the bytes are valid during the call. */
  message(data: Buffer, start: number, end: number): void
  /** Receives a protocol message that needs an answer at once. */
  answer(bytes: Buffer): void
}

/** A protocol, as one connection uses it. */
export interface Wire {
  /** Returns the first bytes. */
  hello(): Buffer | string
  /** Reads complete messages in `data`; returns where the first incomplete one begins. */
  read(data: Buffer, received: WireEvents): number
  /** Returns a message for the other end. */
  wrap(payload: Buffer): Buffer
}
