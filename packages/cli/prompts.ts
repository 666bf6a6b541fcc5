import { createInterface } from 'node:readline/promises'
import { addAbortSignal } from 'node:stream'
import { Failure } from './failure.ts'
import type { Output } from './output.ts'
import type { Terminal } from './terminal.ts'
import { escapeText } from './text.ts'

const SECRET_LIMIT = 8_192

export type TerminalPrompts = ReturnType<typeof createTerminalPrompts>

/** Asks whoever sits at the terminal. Questions go to standard error: standard output is for results. */
export function createTerminalPrompts({ stdin, stderr, signal }: Terminal, out: Output, yes: boolean) {
  /** What is typed, without showing it. */
  const readHidden = () =>
    new Promise<string>((resolve, reject) => {
      let typed = ''
      const end = (finish: () => void) => {
        stdin.off('data', take)
        signal.removeEventListener('abort', abort)
        stdin.setRawMode(false)
        stdin.pause()
        stderr.write('\n')
        finish()
      }
      const abort = () => end(() => reject(signal.reason))
      const take = (keys: string) => {
        for (const key of keys) {
          if (key === '\r' || key === '\n') return end(() => resolve(typed))
          // In raw mode Ctrl-C comes as a key.
          if (key === '\x03') process.kill(process.pid, 'SIGINT')
          else if (key === '\x04') return end(() => reject(new Failure('interrupted', 'Nothing was typed.')))
          else if (key === '\x7f' || key === '\b') typed = typed.slice(0, -1)
          else if (typed.length < SECRET_LIMIT) typed += key
        }
      }
      signal.addEventListener('abort', abort, { once: true })
      stdin.setEncoding('utf8')
      stdin.setRawMode(true)
      stdin.on('data', take)
      stdin.resume()
    })

  const readPiped = async () => {
    let text = ''
    // A pipe that never ends must not outlive Ctrl-C.
    for await (const chunk of addAbortSignal(signal, stdin.setEncoding('utf8'))) {
      text += chunk
      if (text.length > SECRET_LIMIT) throw new Failure('usage', 'What comes on standard input is too long.')
    }
    return text
  }

  const interactive = stdin.isTTY === true && stderr.isTTY === true
  return {
    /** Somebody is there who can answer. */
    present: interactive,
    /** A secret: typed without showing, or from standard input where that is no terminal. */
    async secret(question: string): Promise<string> {
      if (interactive) stderr.write(`${escapeText(question)}: `)
      const text = (await (interactive ? readHidden() : readPiped())).trim()
      if (text === '') throw new Failure('usage', `${question} was empty.`)
      return text
    },
    /**
     * Makes sure that something which cannot be undone is meant. `--yes` means it.
     * @throws Failure for a "no", and where nobody can be asked
     */
    async confirm(question: string): Promise<void> {
      if (yes) return
      if (!interactive || out.json)
        throw new Failure('usage', `${question} Nobody can be asked here: add --yes to go ahead.`)
      const lines = createInterface({ input: stdin, output: stderr })
      // In raw mode Ctrl-C comes as a key.
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
