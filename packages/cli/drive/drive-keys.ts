import type { DriveCommand } from '@wheelhouse/sdk'

export type DriveKey = 'forward' | 'back' | 'left' | 'right'
export type DriveAction = 'halt' | 'stop' | 'clear' | 'resume' | 'quit'

/** A terminal repeats a held key, the first time after about half a second. */
const FIRST_REPEAT_MS = 600
const NEXT_REPEAT_MS = 150
const LINEAR_MPS = 0.5
const ANGULAR_RADPS = 1.2

const keys: Readonly<Record<string, DriveKey>> = {
  w: 'forward',
  s: 'back',
  a: 'left',
  d: 'right',
  '\u001b[A': 'forward',
  '\u001b[B': 'back',
  '\u001b[D': 'left',
  '\u001b[C': 'right',
}
const actions: Readonly<Record<string, DriveAction>> = {
  ' ': 'halt',
  x: 'stop',
  c: 'clear',
  r: 'resume',
  q: 'quit',
  '\u0003': 'quit',
}
/** An arrow key, or any one character. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal sends an escape sequence for an arrow key
const strokes = /\u001b\[[ABCD]|[\s\S]/g

/** Tracks the held keys. A terminal does not report a released key, so a key counts as released after a timeout. */
export class DriveKeys {
  /** Time until which each key counts as held. */
  readonly #held = new Map<DriveKey, number>()

  /** Handles typed text. @returns the actions in it other than driving, in order */
  typed(text: string, nowMs: number): DriveAction[] {
    const requested: DriveAction[] = []
    for (const stroke of text.match(strokes) ?? []) {
      const key = keys[stroke] ?? keys[stroke.toLowerCase()]
      const action = actions[stroke] ?? actions[stroke.toLowerCase()]
      if (key) this.#press(key, nowMs)
      if (action) requested.push(action)
      if (action === 'halt' || action === 'stop') this.#held.clear()
    }
    return requested
  }

  #press(key: DriveKey, nowMs: number): void {
    const untilMs = this.#held.get(key) ?? 0
    // The timeout is longer for the first stroke, because the first repetition arrives later than all others.
    this.#held.set(key, nowMs < untilMs ? nowMs + NEXT_REPEAT_MS : nowMs + FIRST_REPEAT_MS)
    // A new direction replaces the opposite one.
    const opposite = { forward: 'back', back: 'forward', left: 'right', right: 'left' } as const
    this.#held.delete(opposite[key])
  }

  /** Returns the motion that the held keys request. */
  command(nowMs: number): DriveCommand {
    for (const [key, untilMs] of this.#held) if (nowMs >= untilMs) this.#held.delete(key)
    const axis = (plus: DriveKey, minus: DriveKey) =>
      Number(this.#held.has(plus)) - Number(this.#held.has(minus))
    return {
      linearMps: axis('forward', 'back') * LINEAR_MPS,
      angularRadps: axis('left', 'right') * ANGULAR_RADPS,
    }
  }
}
