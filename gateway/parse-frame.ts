/** A text frame as the protocol has it: a JSON object with a `type`; undefined when it is anything else. */
export function parseFrame(text: string): (object & { type: string }) | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || !('type' in value)) return undefined
    return typeof value.type === 'string' ? (value as object & { type: string }) : undefined
  } catch {
    return undefined
  }
}
