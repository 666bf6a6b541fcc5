/** A key that stops the robot. */
export type StopKey = 'Escape' | 'Space'

/**
 * Returns which stop key was pressed, by what it types or by its position: a stop must not depend on the layout, on a remapped
 * key, on held modifiers, or on a keyboard that reports no positions.
 */
export function stopKeyOf({ key, code }: Pick<KeyboardEvent, 'key' | 'code'>): StopKey | undefined {
  if (key === 'Escape' || code === 'Escape') return 'Escape'
  return key === ' ' || code === 'Space' ? 'Space' : undefined
}
