import { CHAT_BODY_MAX } from '@wheelhouse/protocol'

export type WatchAction =
  | { readonly action: 'stop' | 'quit' }
  | { readonly action: 'chat'; readonly text: string }

const ESCAPE = '\u001b'
const CTRL_D = '\u0004'
/** An escape sequence (arrow and function keys), a single Escape, or any one character. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal sends escape sequences for such keys
const strokes = /\u001b[[O][0-9;]*[A-Za-z~]|[\s\S]/gu
const ACTIONS: Readonly<Record<string, 'stop' | 'quit'>> = {
  s: 'stop',
  S: 'stop',
  ' ': 'stop',
  q: 'quit',
  Q: 'quit',
  [CTRL_D]: 'quit',
}

/** Handles typed text during a watch: single keys, or a line of chat after `c`. */
export class WatchKeys {
  #input: string | null = null

  /** The line of chat in progress; null in key mode. */
  get input(): string | null {
    return this.#input
  }

  /** Handles typed text. @returns the actions in it, in order */
  typed(text: string): WatchAction[] {
    return (text.match(strokes) ?? []).flatMap((stroke) =>
      this.#input === null ? this.#key(stroke) : this.#write(stroke, this.#input),
    )
  }

  #key(stroke: string): WatchAction[] {
    if (stroke === 'c' || stroke === 'C') this.#input = ''
    const action = ACTIONS[stroke]
    return action ? [{ action }] : []
  }

  #write(stroke: string, line: string): WatchAction[] {
    if (stroke === '\r' || stroke === '\n') {
      this.#input = null
      return line.trim() === '' ? [] : [{ action: 'chat', text: line }]
    }
    if (stroke === ESCAPE) this.#input = null
    else if (stroke === '\u007f' || stroke === '\b') this.#input = Array.from(line).slice(0, -1).join('')
    else if (!/\p{Cc}/u.test(stroke) && line.length + stroke.length <= CHAT_BODY_MAX)
      this.#input = line + stroke
    return []
  }
}
