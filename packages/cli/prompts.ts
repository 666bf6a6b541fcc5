import { createInterface } from 'node:readline/promises'
import { addAbortSignal } from 'node:stream'
import { Failure } from './failure.ts'
import type { Output } from './output.ts'
import type { Terminal } from './terminal.ts'
import { escapeText } from './text.ts'

const SECRET_LIMIT = 8_192

export type TerminalPrompts = ReturnType<typeof createTerminalPrompts>

/** Creates prompts for the user at the terminal. They use standard error, because standard output is for results. */
export function createTerminalPrompts({ stdin, stderr, signal }: Terminal, out: Output, yes: boolean) {
  /** Reads typed text without echoing it. */
  const readHidden = () =>
    new Promise<string>((resolve, reject) => {
      let typed = ''
      const end = (finish: () => void) => {
        stdin.off('data', onKeys)
        signal.removeEventListener('abort', abort)
        stdin.setRawMode(false)
        stdin.pause()
        stderr.write('\n')
        finish()
      }
      const abort = () => end(() => reject(signal.reason))
      const onKeys = (keys: string) => {
        for (const key of keys) {
          if (key === '\r' || key === '\n') return end(() => resolve(typed))
          // In raw mode the terminal sends Ctrl-C as a key.
          if (key === '\x03') process.kill(process.pid, 'SIGINT')
          else if (key === '\x04')
            return end(() => reject(new Failure('interrupted', 'The input ended before Enter.')))
          else if (key === '\x7f' || key === '\b') typed = typed.slice(0, -1)
          else if (typed.length < SECRET_LIMIT) typed += key
        }
      }
      signal.addEventListener('abort', abort, { once: true })
      stdin.setEncoding('utf8')
      stdin.setRawMode(true)
      stdin.on('data', onKeys)
      stdin.resume()
    })

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
      if (interactive) stderr.write(`${escapeText(question)}: `)
      const text = (await (interactive ? readHidden() : readPiped())).trim()
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
      const lines = createInterface({ input: stdin, output: stderr })
      // In raw mode the terminal sends Ctrl-C as a key.
      lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
      try {
        const answer = await lines.question(`${escapeText(question)} [y/N] `, { signal })
        if (!/^y(es)?$/i.test(answer.trim())) throw new Failure('interrupted', 'Nothing was changed.')
      } finally {
        lines.close()
      }
    },
  }
}
