/** A heartbeat with its fields in the documented order, with or without a space between them. */
const HEARTBEAT =
  /^\{"type": ?"heartbeat"(?:, ?"seq": ?(0|[1-9]\d{0,14}))?(?:, ?"battery": ?([01](?:\.\d{1,20})?))?\}$/

/** The content of a heartbeat that the gateway reads. */
export interface Heartbeat {
  readonly seq?: unknown
  readonly battery?: unknown
}

/** Reads a heartbeat without parsing JSON, because there are thousands in a second. Returns undefined for every other frame. */
export function readPlainHeartbeat(text: string): Heartbeat | undefined {
  const match = HEARTBEAT.exec(text)
  if (match === null) return undefined
  const [, seq, battery] = match
  return {
    ...(seq !== undefined && { seq: Number(seq) }),
    ...(battery !== undefined && { battery: Number(battery) }),
  }
}
