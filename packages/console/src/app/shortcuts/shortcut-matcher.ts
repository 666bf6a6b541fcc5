import { latinKey } from '../../ui/keys.ts'

/** A key sequence and what it does. The handler and the sheet of shortcuts read the same list. */
export interface Shortcut {
  /** The keys, one after another: a character as the layout types it (see `latinKey`), or `mod+k` with Ctrl or ⌘. */
  readonly keys: readonly string[]
  readonly label: string
  readonly group: string
  readonly run: () => void
}

/** A key press, as the matcher reads it. */
export type KeyPress = Pick<KeyboardEvent, 'key' | 'code' | 'ctrlKey' | 'metaKey' | 'altKey'>

/** How long a sequence waits for its next key. */
const SEQUENCE_MS = 1_500

/** Returns the spelling of a key press in a shortcut; undefined for a combination that no shortcut uses. */
function spelled(press: KeyPress): string | undefined {
  if (press.altKey || press.key.length !== 1) return undefined
  const key = latinKey(press)
  return press.ctrlKey || press.metaKey ? `mod+${key}` : key
}

const beginsWith = (keys: readonly string[], typed: readonly string[]) =>
  typed.every((key, index) => keys[index] === key)

/**
 * Creates the function that returns the shortcut which a key press completes. Other keys end a sequence that has begun.
 * @param nowMs a monotonic clock
 */
export function createShortcutMatcher(nowMs: () => number) {
  let typed: readonly string[] = []
  let typedAtMs = 0
  return (press: KeyPress, shortcuts: readonly Shortcut[]): Shortcut | undefined => {
    const key = spelled(press)
    const previous = nowMs() - typedAtMs < SEQUENCE_MS ? typed : []
    typed = []
    if (key === undefined) return undefined
    for (const sequence of [[...previous, key], [key]]) {
      const matching = shortcuts.filter(({ keys }) => beginsWith(keys, sequence))
      const complete = matching.find(({ keys }) => keys.length === sequence.length)
      if (complete) return complete
      if (matching.length > 0) {
        typed = sequence
        typedAtMs = nowMs()
        return undefined
      }
    }
    return undefined
  }
}
