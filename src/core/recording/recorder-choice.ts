/** The address of a recorder. */
export interface RecorderAddress {
  readonly id: string
  readonly url: string
}

/** Hashes a text to 32 bits (FNV-1a, with the finalizer of MurmurHash3, because similar texts are to differ in all bits). */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35)
  return (value ^ (value >>> 16)) >>> 0
}

/**
 * Chooses the recorder of a session by rendezvous hashing: all sources of a session choose the same one, and the end of a recorder
 * changes the choice of its sessions only.
 */
export function chooseRecorder<T extends RecorderAddress>(
  recorders: readonly T[],
  sessionId: string,
): T | undefined {
  let best: { recorder: T; weight: number } | undefined
  for (const recorder of recorders) {
    const weight = hash(`${sessionId} ${recorder.id}`)
    if (!best || weight > best.weight) best = { recorder, weight }
  }
  return best?.recorder
}
