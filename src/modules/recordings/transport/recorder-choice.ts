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
 * Chooses a node for a key by rendezvous hashing: all processes choose the same one, and the end of a node changes the choice for its
 * keys only.
 */
export function rendezvous<T extends { readonly id: string }>(
  nodes: readonly T[],
  key: string,
): T | undefined {
  let best: { node: T; weight: number } | undefined
  for (const node of nodes) {
    const weight = hash(`${key} ${node.id}`)
    if (!best || weight > best.weight) best = { node, weight }
  }
  return best?.node
}
