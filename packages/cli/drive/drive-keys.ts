/** What the keys held down ask of a differential-drive robot. */
export interface DriveCommand {
  readonly linear_mps: number
  readonly angular_radps: number
}

export type DriveKey = 'forward' | 'back' | 'left' | 'right'
export type DriveAction = 'stand' | 'stop' | 'clear' | 'resume' | 'quit'

/** A terminal tells of a key that is held by repeating it, and first waits about half a second. */
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
  ' ': 'stand',
  x: 'stop',
  c: 'clear',
  r: 'resume',
  q: 'quit',
  '\u0003': 'quit',
}
/** An arrow key, or any one character. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape begins what a terminal sends for arrow keys
const strokes = /\u001b\[[ABCD]|[\s\S]/g

/** Which keys are held, as far as a terminal lets one know: there is no word of a key that is let go. */
export class DriveKeys {
  /** Until when each counts as held. */
  readonly #held = new Map<DriveKey, number>()

  /** Takes in what was typed; answers with what it asks for besides driving, in order. */
  typed(text: string, nowMs: number): DriveAction[] {
    const requested: DriveAction[] = []
    for (const stroke of text.match(strokes) ?? []) {
      const key = keys[stroke] ?? keys[stroke.toLowerCase()]
      const action = actions[stroke] ?? actions[stroke.toLowerCase()]
      if (key) this.#press(key, nowMs)
      if (action) requested.push(action)
      if (action === 'stand' || action === 'stop') this.#held.clear()
    }
    return requested
  }

  #press(key: DriveKey, nowMs: number): void {
    const untilMs = this.#held.get(key) ?? 0
    // The second stroke may come late, those after it come quickly: how long to hold on depends on that.
    this.#held.set(key, nowMs < untilMs ? nowMs + NEXT_REPEAT_MS : nowMs + FIRST_REPEAT_MS)
    // Whoever changes direction means the new one.
    const opposite = { forward: 'back', back: 'forward', left: 'right', right: 'left' } as const
    this.#held.delete(opposite[key])
  }

  command(nowMs: number): DriveCommand {
    for (const [key, untilMs] of this.#held) if (nowMs >= untilMs) this.#held.delete(key)
    const axis = (plus: DriveKey, minus: DriveKey) =>
      Number(this.#held.has(plus)) - Number(this.#held.has(minus))
    return {
      linear_mps: axis('forward', 'back') * LINEAR_MPS,
      angular_radps: axis('left', 'right') * ANGULAR_RADPS,
    }
  }
}
