import { addAbortSignal } from 'node:stream'
import { Failure } from './failure.ts'
import type { Output } from './output.ts'
import type { Terminal } from './terminal.ts'
import { escapeText } from './text.ts'

const SECRET_LIMIT = 8_192
const CTRL_D = '\x04'
const DEFAULT_COLUMNS = 80

export type TerminalPrompts = ReturnType<typeof createTerminalPrompts>

/** Creates prompts for the user at the terminal. They use standard error, because standard output is for results. */
export function createTerminalPrompts({ stdin, stderr, signal }: Terminal, out: Output, yes: boolean) {
  /** Returns the text that the user typed before Enter. @throws Failure for Ctrl-C, Ctrl-D and Escape */
  async function ask(question: string, kind: 'text' | 'password'): Promise<string> {
    // Loaded here, because most commands ask nothing.
    const prompts = await import('@clack/prompts')
    prompts.updateSettings({ aliases: { [CTRL_D]: 'cancel' } })
    // The library would show one character per line.
    if (stderr.columns === 0) stderr.columns = DEFAULT_COLUMNS
    const typed = await prompts[kind]({
      message: escapeText(question),
      mask: '',
      withGuide: false,
      input: stdin,
      output: stderr,
      signal,
    })
    if (!prompts.isCancel(typed)) return typed
    signal.throwIfAborted()
    throw new Failure('interrupted', 'Interrupted.')
  }

  const readPiped = async () => {
    let text = ''
    // Ctrl-C must also end a read from an endless pipe.
    for await (const chunk of addAbortSignal(signal, stdin.setEncoding('utf8'))) {
      text += chunk
      if (text.length > SECRET_LIMIT) throw new Failure('usage', 'Standard input is too long.')
    }
    return text
  }

  const interactive = stdin.isTTY === true && stderr.isTTY === true
  return {
    /** Whether a user can answer prompts. */
    present: interactive,
    /** Reads a secret: typed without echo, or from standard input without a terminal. */
    async secret(question: string): Promise<string> {
      const text = (await (interactive ? ask(`${question}: `, 'password') : readPiped())).trim()
      if (text === '') throw new Failure('usage', `${question} was empty.`)
      return text
    },
    /**
     * Asks the user to confirm an action that cannot be undone. `--yes` confirms it.
     * @throws Failure for "no", and without a terminal
     */
    async confirm(question: string): Promise<void> {
      if (yes) return
      if (!interactive || out.json)
        throw new Failure('usage', `${question} This needs a terminal to confirm. Add --yes to continue.`)
      // A text, because the library's own confirmation would accept a single key without Enter.
      const answer = await ask(`${question} [y/N]`, 'text')
      if (!/^y(es)?$/i.test(answer.trim())) throw new Failure('interrupted', 'Nothing was changed.')
    },
  }
}
