import { createInterface } from 'node:readline/promises'
import { Failure } from './failure.ts'
import type { Output } from './output.ts'
import type { Terminal } from './terminal.ts'
import { escaped } from './text.ts'

export type Questions = ReturnType<typeof createQuestions>

/** Asks whoever sits at the terminal. Questions go to standard error: standard output is for results. */
export function createQuestions({ stdin, stderr, signal }: Terminal, out: Output, yes: boolean) {
  const present = stdin.isTTY === true && stderr.isTTY === true
  return {
    /** Somebody is there who can answer. */
    present,
    /**
     * Makes sure that something which cannot be undone is meant. `--yes` means it.
     * @throws Failure for a "no", and where nobody can be asked
     */
    async sure(question: string): Promise<void> {
      if (yes) return
      if (!present || out.json)
        throw new Failure('usage', `${question} Nobody can be asked here: add --yes to go ahead.`)
      const lines = createInterface({ input: stdin, output: stderr })
      // In raw mode Ctrl-C comes as a key.
      lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
      try {
        const answer = await lines.question(`${escaped(question)} [y/N] `, { signal })
        if (!/^y(es)?$/i.test(answer.trim())) throw new Failure('interrupted', 'Nothing was changed.')
      } finally {
        lines.close()
      }
    },
  }
}
