import type { Command } from 'commander'
import { expect } from 'vitest'
import { declareCompletion } from '../../../packages/cli/completion/command.ts'
import { createProgram } from '../../../packages/cli/program.ts'
import { type CliUser, openTerminal, startCli } from './terminal.ts'

/** How a command is called: by a person in a terminal, or by a program with `--json`. */
type Way = 'terminal' | 'json'

/** The program as it is declared. */
export function declaredProgram(): Command {
  const { stdin, stdout, stderr } = process
  const program = createProgram({ env: {}, stdin, stdout, stderr, signal: new AbortController().signal })
  declareCompletion(program)
  return program
}

/** Every command that does something, by the words that call it. */
export function commandsOf(program: Command): Map<string, Command> {
  const leaves = (command: Command, path: readonly string[]): [string, Command][] =>
    command.commands.length === 0
      ? [[path.join(' '), command]]
      : command.commands.flatMap((each) => leaves(each, [...path, each.name()]))
  return new Map(leaves(program, []))
}

/** Runs commands, and knows which have been run to the end that was expected of them. */
export function createLedger() {
  const ways = new Map<string, Set<Way>>()
  const note = (path: string, way: Way) => ways.set(path, (ways.get(path) ?? new Set<Way>()).add(way))
  const wordsOf = (path: string, args: readonly string[]) => [...path.split(' '), ...args]

  /** In a terminal wide enough for every table. */
  function terminal(user: CliUser, path: string, ...args: string[]) {
    const screen = openTerminal(user, wordsOf(path, args), { columns: 250, rows: 50 })
    return {
      ...screen,
      /** Settles with all that was shown, once the command has ended so. */
      async done(code = 0): Promise<string> {
        expect((await screen.ended).code, `${path}: ${screen.shown()}`).toBe(code)
        note(path, 'terminal')
        return screen.shown()
      },
    }
  }

  /** With `--json`, and input if it is to have any. */
  function program(user: CliUser, path: string, args: readonly string[] = [], input?: string) {
    const running = startCli(user, [...wordsOf(path, args), '--json'], input)
    return {
      ...running,
      async done(code = 0) {
        const finished = await running.ended
        expect(finished.code, `${path} --json: ${finished.stderr}`).toBe(code)
        note(path, 'json')
        return finished
      },
    }
  }

  return {
    terminal,
    program,
    /** What a command shows in a terminal; it must succeed. */
    shown: (user: CliUser, path: string, ...args: string[]) => terminal(user, path, ...args).done(),
    /** What a command prints with `--json`; it must succeed, without a word on standard error. */
    async json(user: CliUser, path: string, ...args: string[]) {
      const finished = await program(user, path, args, '').done()
      expect(finished.stderr, path).toBe('')
      return finished.json
    },
    /** Commands of the program that were not run in one of the ways. */
    missing: () =>
      [...commandsOf(declaredProgram()).keys()].flatMap((path) =>
        (['terminal', 'json'] as const)
          .filter((way) => !ways.get(path)?.has(way))
          .map((way) => `${path} (${way})`),
      ),
  }
}
