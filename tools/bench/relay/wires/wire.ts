export type Side = 'operator' | 'robot' | 'watcher'

/** One end of a pair as its relay knows it. */
export interface End {
  readonly pair: number
  readonly side: Side
  /** Of a WebSocket. */
  readonly path?: string
  readonly token?: string
}

/** What an end learns from a relay. */
export interface WireEvents {
  /** The relay has let this end in, and what the other one sends arrives from now on. */
  ready(): void
  refused(why: string): void
  /** A message, of the other end or of the relay; the bytes are valid during the call. */
  message(data: Buffer, start: number, end: number): void
  /** Something the protocol wants answered at once. */
  answer(bytes: Buffer): void
}

/** A protocol, as one connection speaks it. */
export interface Wire {
  /** The first bytes. */
  hello(): Buffer | string
  /** Reads whole messages in `data`; returns where the first incomplete one begins. */
  read(data: Buffer, received: WireEvents): number
  /** A message for the other end. */
  wrap(payload: Buffer): Buffer
}
